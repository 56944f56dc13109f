# SPDX-License-Identifier: MIT
"""The benchmarks: what is measured, on which bus, against which baseline."""
