# SPDX-License-Identifier: MIT
"""State that survives the process, and how it is handed over."""
