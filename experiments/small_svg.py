"""Writes figures of matplotlib as small SVG files: text as text, one line per drawn object."""

import io
import re
import xml.etree.ElementTree as ElementTree

import matplotlib

matplotlib.use("svg")

SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "kqd", "axes.spines.top": False, "axes.spines.right": False}
SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def drawn(parent):
    """The drawn elements below `parent`: groups that only carry a name are replaced by their contents."""
    for child in parent:
        if child.tag == f"{SVG}metadata":
            continue
        if child.tag == f"{SVG}g" and set(child.attrib) <= {"id"}:
            yield from drawn(child)
            continue
        child[:] = drawn(child)
        yield child


def one_line(element):
    for part in element.iter():
        part.tail = None
        part.text = part.text.strip() if part.text else None
        for name, value in part.attrib.items():  # matplotlib writes one line per point, and more digits than are seen
            value = re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), value)
            value = re.sub(r"(font: \S+) 'DejaVu Sans'[^;]*", r"\1 'DejaVu Sans', Verdana, sans-serif", value)
            part.set(name, " ".join(value.split()))
    # ElementTree repeats the name spaces, which the opening line has.
    return re.sub(r' xmlns(:xlink)?="[^"]*"', "", ElementTree.tostring(element, encoding="unicode"))


def small(text):
    root = ElementTree.fromstring(text)
    size = " ".join(f'{name}="{root.get(name)}"' for name in ("width", "height", "viewBox"))
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {size}>'
    return "\n".join([opening, *map(one_line, drawn(root)), "</svg>\n"])


def save(figure, path):
    with matplotlib.rc_context(SETTINGS):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg")
    path.write_text(small(buffer.getvalue()))
