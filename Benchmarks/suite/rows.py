# SPDX-License-Identifier: MIT
"""Rows of the report: a figure, how far it spreads, and the bar it has to meet."""

from dataclasses import asdict, dataclass, field
from statistics import median


@dataclass
class Row:
    """One line of the report."""

    group: str
    work: str
    unit: str  # "×" for a ratio
    value: float
    low: float
    high: float
    bar: float | None = None
    at_least: bool = False
    # The figures that the value was made of, by who they are of.
    parts: dict = field(default_factory=dict)
    note: str = ""

    @property
    def met(self):
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def as_json(self):
        return asdict(self) | {"met": self.met}


def ratio(group, work, own, other, bar=None, *, at_least=False, parts=None, note=""):
    """The row of a ratio from pairs measured one after the other."""
    ratios = [a / b for a, b in zip(own, other, strict=True)]
    return Row(group, work, "×", median(ratios), min(ratios), max(ratios), bar, at_least,
               parts or {}, note)


def figure(group, work, unit, values, bar=None, *, parts=None, note=""):
    """The row of a plain figure, measured once or more."""
    values = values if isinstance(values, list) else [values]
    return Row(group, work, unit, median(values), min(values), max(values), bar, False,
               parts or {}, note)
