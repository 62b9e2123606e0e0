"""Tables of customers as a newcomer brings them: an id, dates, a category, a truth value, numbers, missing values."""

import csv
import datetime
import math
import random

COLUMNS = ("customer_id", "age", "income", "plan", "country", "signup_date", "churned")
PLANS = ("basic", "plus", "pro")
COUNTRIES = ("AT", "BE", "CH", "DE", "ES", "FR", "IT", "SE")


def customers(seed, relation=0.9, missing=0.03, rows=3000):
    """A list of rows. `relation`: how far the income follows the plan; the distribution of either hardly depends on it."""
    draw = random.Random(seed)
    table = []
    for number in range(rows):
        level = draw.choices((-1.0, 0.0, 1.0), weights=(0.3, 0.4, 0.3))[0]
        score = relation * level / math.sqrt(0.6)  # the level has a variance of 0.6
        score = 0.6 * score + math.sqrt(1 - 0.36 * relation**2) * draw.gauss(0.0, 1.0)
        income = "" if draw.random() < missing else round(40_000 * math.exp(0.5 * score), -2)
        day = datetime.date(2023, 1, 1) + datetime.timedelta(days=draw.randrange(400))
        table.append((f"cust-{seed}-{number:06d}-{draw.randrange(16**4):04x}", round(draw.gauss(45.0, 12.0)), income,
                      PLANS[int(level) + 1], draw.choice(COUNTRIES), day.isoformat(), draw.choice(("yes", "no"))))
    return table


def write(path, table):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *table])
