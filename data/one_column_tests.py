#!/usr/bin/env python3
"""Tests of one column at a time of customers-march.csv and customers-april.csv: the table of README.md.

Kolmogorov-Smirnov for the values of columns of numbers and dates, chi-square for the shares of categories and of missing
values. Both by their limiting distributions, written out; p-values are not adjusted. Run it with Debian's python3 and NumPy.
"""

import csv
import datetime
import math
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent
NUMBERS = ("signup_date", "age", "income", "tenure_months", "visits")
CATEGORIES = ("country", "plan", "newsletter")


def columns_of(month):
    with (FOLDER / f"customers-{month}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def number(cell):
    return datetime.date.fromisoformat(cell).toordinal() if "-" in cell else float(cell)


def kolmogorov_smirnov(x, y):
    """The limiting p-value of the largest difference of both distribution functions."""
    at = np.concatenate([x, y])
    gap = np.abs(np.searchsorted(np.sort(x), at, side="right") / len(x) - np.searchsorted(np.sort(y), at, side="right") / len(y))
    z = gap.max() * math.sqrt(len(x) * len(y) / (len(x) + len(y)))
    if z < 0.2:  # the series converges slowly; its sum differs from 1 by less than 1e-12
        return 1.0
    return min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * z * z) for k in range(1, 101)))


def chi_square_tail(value, degrees):
    """P(chi-square with so many degrees of freedom > value), by recursion from one or two degrees."""
    half = value / 2
    tail, k = (math.erfc(math.sqrt(half)), 1) if degrees % 2 else (math.exp(-half), 2)
    while k < degrees:
        tail += math.exp(-half + k / 2 * math.log(half) - math.lgamma(k / 2 + 1)) if half > 0 else 0.0
        k += 2
    return min(1.0, tail)


def chi_square(x, y):
    """Of the shares of texts."""
    levels = sorted(set(x) | set(y))
    counts = np.array([[sample.count(level) for level in levels] for sample in (x, y)], dtype=float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return chi_square_tail(((counts - expected) ** 2 / expected).sum(), len(levels) - 1)


def pvalues():
    """(test, column) -> p-value."""
    march, april = columns_of("march"), columns_of("april")
    found = {}
    for name in NUMBERS:
        found["Kolmogorov-Smirnov", name] = kolmogorov_smirnov(
            *(np.array([number(cell) for cell in month[name] if cell]) for month in (march, april)))
    for name in CATEGORIES:
        found["chi-square", name] = chi_square(march[name], april[name])
    for name in march:
        missing = [["" if cell else "missing" for cell in month[name]] for month in (march, april)]
        if "missing" in missing[0] + missing[1]:
            found["chi-square, missing or not", name] = chi_square(*missing)
    return found


if __name__ == "__main__":
    for (test, name), pvalue in pvalues().items():
        print(f"{test:28}{name:16}{pvalue:.3g}")
