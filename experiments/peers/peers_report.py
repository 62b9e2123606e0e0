"""The numbers of bench_peers.py as a table in Markdown and as a figure."""

import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import small_svg
import matplotlib.pyplot as plt

OURS = "kqd"
# Colours of Okabe and Ito, which are distinct with any kind of colour vision, and a marker for each.
STYLES = [("#000000", "o"), ("#D55E00", "s"), ("#0072B2", "^"), ("#009E73", "D"), ("#CC79A7", "v")]

NOTE = """Hollow markers: fewer permutations were
run; the time for all is extrapolated.

A line ends where a library would need
more than half of the machine's memory,
or too much time."""


# ---- words -----------------------------------------------------------------------------------------------------------


def time_in_words(seconds):
    if seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:.0f} s"


def memory_in_words(count):
    megabytes = count / 1e6
    if megabytes < 0.95:
        return "< 1 MB"
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.3g} GB"


def in_words(row):
    if not took_part(row):
        return f"- ({row['why_not']})"
    approximately = "~" if row["fewer_permutations"] else ""
    return f"{approximately}{time_in_words(row['seconds'])}, {memory_in_words(row['peak_bytes'])}"


def took_part(row):
    return "why_not" not in row


def ratio(row, own, of="seconds"):
    """Time relative to kqd, if both were measured."""
    return row[of] / own[of] if took_part(row) and took_part(own) else None


def ratio_in_words(value):
    if value < 1.05:
        return f"{value:.2f}"  # near 1 the second digit matters
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def cell(row, own):
    value = ratio(row, own)
    if value is None:
        return in_words(row)
    processor = ratio(row, own, "processor_seconds")
    return f"**{ratio_in_words(value)} x** ({ratio_in_words(processor)} x) {in_words(row)}"


def power_of_ten(n):
    exponent = math.floor(math.log10(n))
    factor = round(n / 10**exponent)
    return f"10^{exponent}" if factor == 1 else f"{factor} 10^{exponent}"


def table(statistic):
    contenders = statistic["contenders"]
    own_rows = contenders[OURS]
    lines = [f"| {statistic['title']} | " + " | ".join(f"n = {power_of_ten(row['n'])}" for row in own_rows) + " |",
             "|---" * (len(own_rows) + 1) + "|"]
    for name, rows in contenders.items():
        cells = [in_words(row) if name == OURS else cell(row, own) for row, own in zip(rows, own_rows)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def agreement(statistic):
    """Evidence that the contenders computed the same statistic."""
    parts = []
    for name, rows in statistic["contenders"].items():
        pvalues = ", ".join(f"{row['pvalue']:.3f}" for row in rows if row.get("pvalue") is not None)
        differences = [row["relative_difference"] for row in rows if row.get("relative_difference") is not None]
        if name == OURS:
            parts.append(f"{name} p = {pvalues}")
        elif differences:
            parts.append(f"{name} {max(differences):.0e}" + (f", p = {pvalues}" if pvalues else ""))
    return "Largest relative difference of observed values from kqd's, and p-values by size: " + "; ".join(parts) + "."


def behind(found):
    """Measurements in which kqd is not faster."""
    for statistic in found["statistics"]:
        contenders = statistic["contenders"]
        for name, rows in contenders.items():
            for row, own in zip(rows, contenders[OURS]):
                value = ratio(row, own)
                if name != OURS and value is not None and value <= 1:
                    yield f"{statistic['title']}, {name}, n = {power_of_ten(row['n'])}: {value:.2f} x"


def least_ahead(statistic):
    contenders = statistic["contenders"]
    ratios = [(ratio(row, own), name, row["n"]) for name, rows in contenders.items() if name != OURS
              for row, own in zip(rows, contenders[OURS]) if ratio(row, own) is not None]
    value, name, n = min(ratios)
    return f"{statistic['title']}: {ratio_in_words(value)} x ({name}, n = {power_of_ten(n)})"


def markdown(found):
    context = found["context"]
    lines = [
        "# kqd and libraries of Python and R",
        "",
        f"{context['machine']}, {context['date']}, load average {context['load']}; "
        + ", ".join(f"{name} {version}" for name, version in context["versions"].items()) + ".",
        "",
        f"n rows of {context['columns']} columns in each sample, B = {context['permutations']} permutations, "
        f"{context['threads']} threads. A cell has the time relative to kqd (and the relative processor time, which depends "
        "less on other load), the time, and the peak memory beyond the loaded libraries and the data.",
        f"Medians of {context['turns']} turns, of one if a run takes over {context['long_seconds']} s. A library that would take "
        f"over {context['limit_seconds']} s, predicted from the previous size, runs fewer permutations for some "
        f"{context['fewer_seconds']} s; its time, marked by ~, is extrapolated in proportion or, with a costly set-up, along the "
        f"straight line through two numbers of permutations. A library that cannot, or that would need over "
        f"{100 * context['most_memory']:.0f}% of the machine's memory, is skipped: - (prediction).",
        "",
    ]
    for statistic in found["statistics"]:
        lines += [*table(statistic), "", agreement(statistic), ""]
    worse = list(behind(found))
    lines.append("kqd is SLOWER: " + "; ".join(worse) + "." if worse else "kqd is faster than every library at every size.")
    lines.append("Smallest ratios: " + "; ".join(least_ahead(statistic) for statistic in found["statistics"]) + ".")
    return "\n".join(lines) + "\n"


# ---- the figure ------------------------------------------------------------------------------------------------------


def draw_line(axes, name, rows, style):
    colour, mark = style
    taken = [row for row in rows if took_part(row)]
    extrapolated = [row for row in taken if row["fewer_permutations"]]
    points = lambda chosen: ([row["n"] for row in chosen], [row["seconds"] for row in chosen])
    order = 4 if name == OURS else 3
    axes.plot(*points(taken), marker=mark, markersize=6, color=colour, linewidth=2.4 if name == OURS else 1.4,
              label=name, zorder=order)
    axes.plot(*points(extrapolated), mark, markersize=6, color=colour, markerfacecolor="white", zorder=order)


def draw_panel(axes, statistic):
    for (name, rows), style in zip(statistic["contenders"].items(), STYLES):
        draw_line(axes, name, rows, style)
    axes.set_title(re.sub(r"_(\d)", r"$_\1$", statistic["title"]), fontsize=11)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.7)
    axes.tick_params(labelbottom=True, labelleft=True)
    axes.legend(fontsize=9.5, frameon=False, loc="upper left")


def draw(found, path):
    plt.rcParams.update({**small_svg.SETTINGS, "font.size": 10})
    context, panels = found["context"], found["statistics"]
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.9 * rows), squeeze=False, sharex=True,
                                sharey=True, layout="constrained")
    grid[0, 0].set(xscale="log", yscale="log")  # for all panels, which share axes
    for axes, statistic in zip(grid.flat, panels):
        draw_panel(axes, statistic)
    low, high = grid[0, 0].get_ylim()
    grid[0, 0].set_ylim(low, high * (high / low) ** 0.55)  # room for the legend
    for axes in grid.flat[len(panels):]:
        axes.set_axis_off()
        axes.text(0.05, 0.9, NOTE, transform=axes.transAxes, va="top", fontsize=10)
    figure.supxlabel("rows of each sample")
    figure.supylabel(f"seconds of a test with {context['permutations']} permutations, {context['threads']} threads")
    small_svg.save(figure, path)
    plt.close(figure)
