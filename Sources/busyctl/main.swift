// SPDX-License-Identifier: MIT

internal import Glibc

exit(Program.run(CommandLine.arguments))
