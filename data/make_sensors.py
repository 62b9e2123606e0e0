"""Writes sensors-march.csv and sensors-april.csv: one machine in two months, with one difference that means do not show.

Run it with Debian's python3 and NumPy, from any folder; the files are written next to it.
"""

from pathlib import Path

import numpy as np

SEED = 20250401
#          column            mean    s.d.  decimals  load   weather   (correlation with either)
COLUMNS = (("temperature_c", 41.3, 0.5, 2, 0.6, 0.3),
           ("humidity_pct", 38.2, 0.8, 2, -0.2, 0.7),
           ("pressure_hpa", 1009.4, 0.7, 1, 0.0, -0.6),
           ("vibration_mm_s", 4.3, 2.6, 3, 0.4, 0.0),
           ("current_a", 12.6, 0.5, 2, 0.8, 0.0),
           ("speed_rpm", 1482.0, 0.6, 1, -0.7, 0.0))
NAMES, MEANS, DEVIATIONS, DECIMALS, LOADS, WEATHERS = zip(*COLUMNS)
VIBRATION = NAMES.index("vibration_mm_s")


def correlated_normals(rng, num_rows):
    """Standard normal columns that share the load of the machine and the weather."""
    loadings = np.column_stack([LOADS, WEATHERS])
    own_share = np.sqrt(1.0 - np.sum(loadings**2, axis=1))
    return rng.standard_normal((num_rows, 2)) @ loadings.T + own_share * rng.standard_normal((num_rows, len(COLUMNS)))


def with_knocks(vibration):
    """The same values up to the 65 % quantile. Above it, five in eight run calmer and three in eight knock hard; the mean
    and the standard deviation of that upper part stay as they were, so the column's do too."""
    upper = np.argsort(vibration)[round(0.65 * vibration.size):]
    num_knocks = round(0.375 * upper.size)
    shape = np.concatenate([np.linspace(0.0, 0.1, upper.size - num_knocks), np.linspace(0.88, 1.12, num_knocks)])
    changed = vibration.copy()
    changed[upper] = np.mean(vibration[upper]) + np.std(vibration[upper]) * (shape - np.mean(shape)) / np.std(shape)
    return changed


def month(rng, num_rows, knocks):
    values = correlated_normals(rng, num_rows)
    values[:, VIBRATION] = np.exp(0.56 * values[:, VIBRATION])
    # Both months have the same mean and standard deviation in every column, to the last printed digit or two.
    values = MEANS + np.array(DEVIATIONS) * (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    if knocks:
        values[:, VIBRATION] = with_knocks(values[:, VIBRATION])
    return values


def write(name, values):
    lines = [",".join(NAMES)]
    lines += [",".join(f"{value:.{digits}f}" for value, digits in zip(row, DECIMALS)) for row in values]
    Path(__file__).with_name(name).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    generator = np.random.default_rng(SEED)
    write("sensors-march.csv", month(generator, 500, knocks=False))
    write("sensors-april.csv", month(generator, 480, knocks=True))
