"""--report: the page is written completely or not at all, holds what --json prints, and runs no script from the data."""

import base64
import hashlib
import json
import re
import resource
import shlex
import signal
import subprocess

import numpy as np
import pytest
from conftest import PROGRAM, ROOT, masked

WEB = ROOT / "web"
TEMPLATE = (WEB / "dist" / "template.html").read_text()
DATA = '<script type="application/json" id="report">'
SENSORS = ("sensors-march.csv", "sensors-april.csv")
COMMANDS = {
    "test": ("test", *SENSORS, "--permutations", "99"),
    "distance": ("distance", *SENSORS),
    "matrix": ("matrix", *SENSORS, "sensors-march.csv", "--test", "--permutations", "99"),
}


def data_text(page):
    """The data of a page as text; the rest has to be the template."""
    start = page.index(DATA) + len(DATA)
    end = page.index("</script>", start)
    assert page[:start] + page[end:] == TEMPLATE
    return page[start:end]


def without_times(report):
    return re.sub(r'("elapsed_s":\s*)[-+.e0-9]+', r"\1 0", json.dumps(report))


@pytest.fixture
def page_of(kqd, tmp_path):
    """The data of the page that a command writes."""

    def run(*arguments):
        path = tmp_path / "page.html"
        done = kqd(*arguments, "--report", str(path))
        assert (done.stderr, done.code) == ("", 0)
        return json.loads(data_text(path.read_text()))

    return run


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_page_holds_what_json_prints(kqd, page_of, kind):
    report = page_of(*COMMANDS[kind])
    printed = json.loads(kqd(*COMMANDS[kind], "--json").stdout)
    assert (report["schema"], report["kind"]) == ("kqd.report/2", kind)
    assert without_times(report["result"]) == without_times(printed)


@pytest.mark.parametrize("form", [(), ("--json",), ("--quiet",)])
@pytest.mark.parametrize("kind", COMMANDS)
def test_what_is_printed_does_not_change_by_a_page(kqd, tmp_path, kind, form):
    only = kqd(*COMMANDS[kind], *form)
    with_page = kqd(*COMMANDS[kind], *form, "--report", str(tmp_path / "page.html"))
    shown = [re.sub(r'"elapsed_s": .*', "", masked(run.stdout)) for run in (only, with_page)]
    assert shown[0] == shown[1] and (with_page.stderr, with_page.code) == ("", 0)


def test_the_null_distribution_is_thinned_by_rank_and_keeps_both_ends(kqd, page_of):
    arguments = ("test", *SENSORS, "--method", "ekqd", "--num-directions", "4", "--permutations", "4321")
    shown = page_of(*arguments)["null"]
    whole = np.sort(json.loads(kqd(*arguments, "--json", "--null-distribution").stdout)["null_distribution"])
    assert shown["of"] == len(whole) == 4321
    assert (len(shown["values"]), shown["values"][0], shown["values"][-1]) == (2000, whole[0], whole[-1])
    levels = np.arange(0.05, 1, 0.05)
    # Ranks are rounded down by less than one of the whole, so a quantile moves by three neighbours at most.
    low, high = (whole[(levels * 4320).astype(int) + step] for step in (-3, 3))
    quantiles = np.quantile(shown["values"], levels)
    assert np.all((low <= quantiles) & (quantiles <= high))


def test_the_command_of_the_page_makes_it_again(kqd, folder, tmp_path):
    odd = "it's a \"name\" $HOME.csv"
    (folder / odd).write_text("1,2\n3,4\n5,6\n")
    path = tmp_path / "a page.html"
    arguments = ("distance", odd, "b.csv", "--power", "2", "--report", str(path))
    assert kqd(*arguments).code == 0
    first = json.loads(data_text(path.read_text()))
    assert shlex.split(first["command"]) == ["kqd", *arguments]
    path.unlink()
    subprocess.run(["sh", "-c", first["command"].replace("kqd", shlex.quote(PROGRAM), 1)], cwd=folder, check=True,
                   capture_output=True, timeout=60)
    assert without_times(json.loads(data_text(path.read_text()))) == without_times(first)


HOSTILE = "</script><script>alert(1)</script><!--"


def test_no_angle_bracket_of_the_data_reaches_the_page(kqd, folder, tmp_path):
    name = "<img src=x>.csv"
    (folder / name).write_text(f'"{HOSTILE}",<b>\n1,2\n3,5\n2,2\n')
    path = tmp_path / "page.html"
    run = kqd("test", name, name, "--permutations", "9", "--report", str(path))
    assert (run.stderr, run.code) == ("", 0)
    text = data_text(path.read_text())
    assert "<" not in text
    report = json.loads(text)
    assert report["result"]["x"] == name
    assert {column["name"] for column in report["explanation"]["columns"]} == {HOSTILE, "<b>"}


@pytest.mark.parametrize("kind", ["test", "distance"])
def test_the_page_explains_as_kqd_explain_does(kqd, page_of, kind):
    printed = json.loads(kqd("explain", *SENSORS, "--json").stdout)
    shown = page_of(*COMMANDS[kind])["explanation"]
    of_the_run = ("x", "y", "data", "elapsed_s")  # once in the page, with the result
    for name in of_the_run:
        printed.pop(name, None), shown.pop(name, None)
    assert shown == printed


def test_a_page_does_not_grow_with_the_rows(kqd, folder, tmp_path):
    sizes = []
    for rows in (4000, 16000):
        for name, seed in (("long-x.npy", 1), ("long-y.npy", 2)):
            np.save(folder / name, np.random.default_rng(seed).normal(size=(rows, 5)))
        path = tmp_path / f"{rows}.html"
        run = kqd("test", "long-x.npy", "long-y.npy", "--method", "ekqd", "--permutations", "99", "--report", str(path))
        assert run.code == 0
        scatter = json.loads(data_text(path.read_text()))["explanation"]["scatter"]
        assert (scatter["shown_x"], scatter["of_x"]) == (2000, rows)
        sizes.append(path.stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 0.02 * sizes[0] and max(sizes) < 3_000_000


def test_rows_that_are_images_come_with_their_pixels(page_of, folder):
    images = np.random.default_rng(3).uniform(size=(30, 2, 3, 3))
    np.save(folder / "images-x.npy", images)
    np.save(folder / "images-y.npy", 1 - images**2)
    image = page_of("distance", "images-x.npy", "images-y.npy")["explanation"]["image"]
    assert (image["height"], image["width"], image["channels"]) == (2, 3, 3)
    most = image["most_x"][0]
    source = images if most["sample"] == "x" else 1 - images**2
    assert most["pixels"] == pytest.approx(source[most["row"] - 1].ravel(), rel=1e-5)


def test_a_shape_that_does_not_fit_is_refused_and_without_a_page_noted(kqd, tmp_path):
    path = tmp_path / "page.html"
    run = kqd("test", *SENSORS, "--image-shape", "2x4", "--report", str(path))
    sentence = "--image-shape 2x4: expected a shape of 6 values, as many as the rows have (this one has 8)"
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2) and not path.exists()
    run = kqd("distance", "a.csv", "b.csv", "--image-shape", "1x2")
    assert (run.stderr, run.code) == ("kqd: --image-shape: no effect without --report\n", 0)


@pytest.mark.parametrize("flags, sentence", [
    (("--report", "a.csv"), "--report a.csv: expected another file than the input a.csv"),
    (("--report", "page.txt"), "--report page.txt: expected a file name ending in .html"),
    (("--report", "p.html", "--output", "p.html"), "--report p.html: expected another file than that of --output"),
    (("--report", "nowhere/p.html"), "cannot write nowhere/p.html: No such file or directory"),
    (("--report", ""), "--report is given an empty text, expected a value"),
])
def test_an_impossible_page_is_refused_before_the_work(kqd, folder, flags, sentence):
    before = sorted(path.name for path in folder.iterdir())
    run = kqd("test", "a.csv", "b.csv", *flags)
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_full_disk_leaves_the_old_page_and_nothing_else(folder, tmp_path):
    def small_files_only():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    path = tmp_path / "page.html"
    path.write_text("old")
    run = subprocess.run([PROGRAM, "distance", "a.csv", "b.csv", "--report", path], cwd=folder, capture_output=True,
                         text=True, preexec_fn=small_files_only, timeout=60)
    assert (run.stdout, run.stderr, run.returncode) == ("", f"kqd: cannot write {path}: File too large\n", 2)
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_the_template_is_small_and_loads_nothing():
    assert len(TEMPLATE.encode()) < 400_000
    head = TEMPLATE[: TEMPLATE.index("<body>")]
    assert "default-src 'none'" in head and "unsafe" not in head
    assert not re.search(r'\b(src|href)="', TEMPLATE[: TEMPLATE.index("<script type=\"module\">")])


def test_the_policy_of_the_template_is_for_its_own_script_and_style():
    script, = re.findall(r'<script type="module">(.*?)</script>', TEMPLATE, re.DOTALL)
    style, = re.findall(r"<style>(.*?)</style>", TEMPLATE, re.DOTALL)
    digest = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    assert f"script-src 'sha256-{digest[0]}'; style-src 'sha256-{digest[1]}'" in TEMPLATE


def test_the_template_is_built_from_the_sources_as_they_are():
    names = ["index.html", "package-lock.json", "vite.config.js"]
    files = [path for folder in ("pack", "src") for path in (WEB / folder).rglob("*") if path.is_file()]
    names += [str(path.relative_to(WEB)) for path in files]
    checksum = hashlib.sha256()
    for name in sorted(names):
        checksum.update(f"{name}\n".encode() + (WEB / name).read_bytes())
    assert f'name="kqd-sources" content="{checksum.hexdigest()}"' in TEMPLATE, "./dev web builds the template again"
