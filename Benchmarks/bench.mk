# SPDX-License-Identifier: MIT
#
# The benchmarks; the Makefile includes this.
#
#   make bench         everything, some fifteen minutes; writes docs/performance.md
#   make bench-quick   less of everything, some three minutes; writes nothing but JSON
#
# ONLY=calls (or instructions, countdowns, growth, footprint, core) runs that part alone.

# What they need besides what building and testing do.
BENCH_PACKAGES := gcc g++ valgrind libglib2.0-dev libdbus-1-dev libsystemd-dev dbus-broker \
	systemd libglib2.0-bin strace binutils util-linux pkgconf

.PHONY: bench bench-quick

bench: build ## Measure everything, and write docs/performance.md
	$(PYTHON) Benchmarks/bench $(addprefix --only ,$(ONLY)) --report docs/performance.md

bench-quick: build ## Measure a little of everything
	$(PYTHON) Benchmarks/bench --quick $(addprefix --only ,$(ONLY))
