#!/usr/bin/env python3
"""Writes customers-march.csv and customers-april.csv next to this file.

Two months of customers: numbers, categories, a truth value, a date, an id. Every column is drawn from the same values in
both months, in another order. Two things change. The income depends on the plan, much in March and little in April,
which no test of one column at a time can see; and more incomes are missing in April.

Run it with Debian's python3 and NumPy, from any folder; the files are written next to it.
"""

import datetime
import pathlib
import statistics

import numpy as np

ROWS = 2000
COUNTRIES = ["AT", "BE", "CH", "DE", "DK", "ES", "FI", "FR", "IT", "NL", "PL", "SE"]
SHARES = np.array([4, 5, 5, 22, 4, 12, 3, 16, 13, 7, 6, 3]) / 100
VISITS = np.array([5, 15, 22, 22, 17, 10, 6, 3]) / 100
MISSING = {"march": 0.03, "april": 0.065}
RELATION = {"march": 0.60, "april": 0.25}  # correlation of the normal scores of plan and income


NORMAL_QUANTILES = np.array([statistics.NormalDist().inv_cdf((i + 0.5) / ROWS) for i in range(ROWS)])


def normal_scores(values):
    """The values replaced by normal quantiles of their ranks."""
    return NORMAL_QUANTILES[np.argsort(np.argsort(values))]


def score_pair(rng, correlation):
    first = rng.normal(size=ROWS)
    return normal_scores(first), normal_scores(correlation * first + np.sqrt(1 - correlation**2) * rng.normal(size=ROWS))


def shuffled(rng, values, shares):
    """Each value in its share of the rows, in random order."""
    return rng.permutation(np.repeat(values, np.diff(np.round(np.concatenate([[0], np.cumsum(shares)]) * ROWS).astype(int))))


def rows_of(month, seed):
    rng = np.random.default_rng(seed)
    plan_score, income_score = score_pair(rng, RELATION[month])
    age_score, tenure_score = score_pair(rng, 0.5)
    plan = np.array(["basic", "pro", "premium"])[np.searchsorted([0.25, 1.0], plan_score)]
    income = np.exp(10.4 + 0.45 * income_score).round(-2).astype(int)
    income_missing = rng.uniform(size=ROWS) < MISSING[month]
    age = np.clip(44 + 13 * age_score, 18, 90).astype(int)
    tenure = np.clip(np.exp(2.9 + 0.8 * tenure_score), 0.5, 240).round(1)
    country = shuffled(rng, COUNTRIES, SHARES)
    visits = shuffled(rng, range(8), VISITS)
    newsletter = shuffled(rng, ["yes", "no"], [0.4, 0.6])
    signup = [datetime.date(2023, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.permutation(ROWS) * 420 // ROWS]
    ids = [f"c-{number:06x}" for number in rng.choice(16**6, ROWS, replace=False)]
    yield "customer_id,signup_date,age,country,plan,income,tenure_months,visits,newsletter"
    for i in range(ROWS):
        cell = "" if income_missing[i] else income[i]
        yield f"{ids[i]},{signup[i]},{age[i]},{country[i]},{plan[i]},{cell},{tenure[i]},{visits[i]},{newsletter[i]}"


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    for seed, month in enumerate(("march", "april"), 1):
        (folder / f"customers-{month}.csv").write_text("\n".join(rows_of(month, seed)) + "\n")
