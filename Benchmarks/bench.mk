# SPDX-License-Identifier: MIT
#
# The benchmarks; the Makefile includes this.
#
#   make bench         everything, some twenty-two minutes; writes docs/performance.md
#   make bench-quick   less of everything, some three minutes; writes nothing but JSON
#
# ONLY=calls (or instructions, countdowns, growth, footprint, core) runs that part alone.

.PHONY: bench bench-quick

bench: build ## Measure everything, and write docs/performance.md
	@tools/deps bench
	$(PYTHON) Benchmarks/bench $(addprefix --only ,$(ONLY)) --report docs/performance.md

bench-quick: build ## Measure a little of everything
	@tools/deps bench
	$(PYTHON) Benchmarks/bench --quick $(addprefix --only ,$(ONLY))
