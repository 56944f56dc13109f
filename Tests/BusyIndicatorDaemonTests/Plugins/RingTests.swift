// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorDaemon

@Suite struct RingTests {
  /// The four bytes of a pixel: alpha, red, green, blue.
  private func pixel(_ ring: Ring, size: Int, x: Int, y: Int) -> [UInt8] {
    Array(ring.pixels(size: size)[((y * size + x) * 4)...].prefix(4))
  }

  @Test(arguments: Ring.sizes) func everySizeHasItsBytes(size: Int) {
    #expect(Ring.empty.pixels(size: size).count == size * size * 4)
  }

  @Test(arguments: Ring.sizes) func cornersAndCentreAreClear(size: Int) {
    for ring in [Ring.empty, .turning(step: 3), .filled(steps: 60), .paused(steps: 30)] {
      for (x, y) in [(0, 0), (size - 1, 0), (0, size - 1), (size / 2, size / 2)] {
        #expect(pixel(ring, size: size, x: x, y: y)[0] == 0)
      }
    }
  }

  @Test(arguments: Ring.sizes) func theTrackIsGreyAndTranslucent(size: Int) {
    let top = pixel(.empty, size: size, x: size / 2, y: 2)
    #expect((60..<160).contains(top[0]))
    #expect(top[1] == top[2] && top[2] == top[3])
  }

  // Blue is the last byte: network byte order.
  @Test(arguments: Ring.sizes) func aFullRingIsBlueAllAround(size: Int) {
    let ring = Ring.filled(steps: Ring.fillingSteps)
    for (x, y) in [(size / 2, 2), (size - 3, size / 2), (size / 2, size - 3), (2, size / 2)] {
      let colour = pixel(ring, size: size, x: x, y: y)
      #expect(colour[0] > 200 && colour[3] > colour[2] && colour[2] > colour[1])
    }
  }

  @Test(arguments: Ring.sizes) func aQuarterIsOnTheRightSide(size: Int) {
    let ring = Ring.filled(steps: Ring.fillingSteps / 4)
    let inside = pixel(ring, size: size, x: size * 3 / 4 + 1, y: size / 5)
    let outside = pixel(ring, size: size, x: size / 2, y: size - 3)
    #expect(inside[0] > outside[0] && inside[3] > inside[1])
    #expect(outside[1] == outside[3])
  }

  @Test func aPausedOneHasAnotherColour() {
    let colour = pixel(.paused(steps: 60), size: 24, x: 12, y: 2)
    #expect(colour[1] > colour[3])
  }

  @Test func noTwoPlacesOfATurnAreTheSame() {
    let pictures = Set((0..<Ring.turningSteps).map { Ring.turning(step: $0).pixels(size: 16) })
    #expect(pictures.count == Ring.turningSteps)
  }

  // A ring must not lean: what is drawn is drawn from the middle of the pixels.
  @Test(arguments: Ring.sizes) func theTrackIsSymmetric(size: Int) {
    let pixels = Ring.empty.pixels(size: size)
    for row in 0..<size {
      for column in 0..<size {
        let here = pixels[(row * size + column) * 4]
        #expect(here == pixels[(row * size + size - 1 - column) * 4])
        #expect(here == pixels[((size - 1 - row) * size + column) * 4])
      }
    }
  }
}
