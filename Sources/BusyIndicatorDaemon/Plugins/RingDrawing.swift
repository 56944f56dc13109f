// SPDX-License-Identifier: MIT

internal import Glibc

// The ring is drawn from its geometry, each pixel by its distance to the arc, so that it is as sharp
// as can be at every size and needs no icon theme. Its colours are of middle brightness: a panel may
// be light or dark, and does not say which.

/// The ring of the tray's icon.
enum Ring: Equatable {
  /// Nothing goes on: the track alone.
  case empty
  /// Something goes on, nobody knows how far: an arc at one of ``turningSteps`` places.
  case turning(step: Int)
  /// So many of ``fillingSteps`` are done.
  case filled(steps: Int)
  /// The same, standing still.
  case paused(steps: Int)

  /// How many pictures make one turn.
  static let turningSteps = 10
  /// How many pictures there are from empty to full: about one for each pixel of the circle.
  static let fillingSteps = 60
  /// The sizes that panels want, in pixels; few, since all of them go to each host with each frame.
  static let sizes = [16, 22, 24, 32, 48]

  /// One picture: ARGB32 in network byte order, row by row from the top, alpha not multiplied in.
  func pixels(size: Int) -> [UInt8] {
    let arc = Arc(self)
    let centre = Float(size) / 2
    let width = max(2.5, Float(size) / 8)
    let radius = centre - 0.5 - width / 2
    var pixels = [UInt8](repeating: 0, count: size * size * 4)
    // Most pixels are nowhere near; to find that out is most of the work.
    let inner = max(0, radius - width / 2 - 1)
    let outer = radius + width / 2 + 1
    let near = (inner * inner)...(outer * outer)
    for row in 0..<size {
      let y = Float(row) + 0.5 - centre
      for column in 0..<size {
        let x = Float(column) + 0.5 - centre
        let square = x * x + y * y
        guard near.contains(square) else { continue }
        let toTrack = abs(square.squareRoot() - radius) - width / 2
        // What is covered of a pixel, nearly: how far its centre is inside the edge.
        let ink = coverage(arc.distance(x, y, toTrack: toTrack, radius: radius, width: width))
        arc.colour.over(
          Self.track, ink, coverage(toTrack), into: &pixels, at: (row * size + column) * 4)
      }
    }
    return pixels
  }

  private static let track = Colour(red: 0x80, green: 0x80, blue: 0x80, alpha: 0.45)
}

/// How much of a pixel is inside, whose centre is so far outside of an edge.
private func coverage(_ distance: Float) -> Float { max(0, min(1, 0.5 - distance)) }

private struct Colour {
  let red: Float
  let green: Float
  let blue: Float
  let alpha: Float

  init(red: UInt8, green: UInt8, blue: UInt8, alpha: Float = 1) {
    self.red = Float(red)
    self.green = Float(green)
    self.blue = Float(blue)
    self.alpha = alpha
  }

  /// Lays this colour over another, of both of which a pixel is covered so far.
  func over(
    _ below: Colour, _ mine: Float, _ its: Float, into pixels: inout [UInt8], at index: Int
  ) {
    let above = alpha * mine
    let under = below.alpha * its * (1 - above)
    let total = above + under
    guard total > 0 else { return }
    func mix(_ one: Float, _ other: Float) -> UInt8 {
      UInt8(min(255, (one * above + other * under) / total + 0.5))
    }
    pixels[index] = UInt8(min(255, total * 255 + 0.5))
    pixels[index + 1] = mix(red, below.red)
    pixels[index + 2] = mix(green, below.green)
    pixels[index + 3] = mix(blue, below.blue)
  }
}

/// The coloured part of a ring, in turns clockwise from the top.
private struct Arc {
  let start: Float
  let length: Float
  let colour: Colour
  private let ends: (first: (x: Float, y: Float), last: (x: Float, y: Float))

  init(_ ring: Ring) {
    let running = Colour(red: 0x2E, green: 0x86, blue: 0xE6)
    let resting = Colour(red: 0xE0, green: 0x96, blue: 0x10)
    switch ring {
    case .empty: (start, length, colour) = (0, 0, running)
    case .turning(let step):
      (start, length, colour) = (Float(step) / Float(Ring.turningSteps), 0.3, running)
    case .filled(let steps):
      (start, length, colour) = (0, Float(steps) / Float(Ring.fillingSteps), running)
    case .paused(let steps):
      (start, length, colour) = (0, Float(steps) / Float(Ring.fillingSteps), resting)
    }
    ends = (Self.point(start), Self.point(start + length))
  }

  private static func point(_ turns: Float) -> (x: Float, y: Float) {
    (sinf(turns * 2 * .pi), -cosf(turns * 2 * .pi))
  }

  /// How far a point is outside of the arc, which has round ends; negative inside.
  ///
  /// `toTrack` is how far it is outside of the whole ring.
  func distance(_ x: Float, _ y: Float, toTrack: Float, radius: Float, width: Float) -> Float {
    guard length > 0 else { return .infinity }
    let turns = atan2f(x, -y) / (2 * .pi)
    let place = turns - start
    guard length < 1, place - place.rounded(.down) > length else {
      return toTrack
    }
    func toEnd(_ end: (x: Float, y: Float)) -> Float {
      let (dx, dy) = (x - end.x * radius, y - end.y * radius)
      return (dx * dx + dy * dy).squareRoot()
    }
    return min(toEnd(ends.first), toEnd(ends.last)) - width / 2
  }
}
