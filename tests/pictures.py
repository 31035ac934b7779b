"""Whether two SVGs of the book show the same, up to rounding.

Every element and every letter has to be the same. Each number may differ a little; and of a path
the points may be others, for how many a curve is drawn with is a matter of rounding, but each of
them, and of the middles between two, lies on the other curve, and both begin and end together.
"""

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
from reluflow.figures.frame import distances

TOLERANCE = 0.3  # points, a fortieth of a letter: other CPUs move a line by a thousandth of it
ENDS = 2.0  # points: rounding decides which of the last points of a smooth curve is left out
ROOM = np.array([TOLERANCE, TOLERANCE, ENDS, ENDS])[:, None]
IMAGE = 16.0  # of 255, for the pixels of a picture within the picture
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
SIZES = re.compile(r"scale\(.*?\)|: .*")  # of letters, and how lines look: by no computation
HASHED = re.compile(r"(?<=[#\"])[mpih][0-9a-f]{10}|^[mpih][0-9a-f]{10}$")  # named by its content


def alike(one: str, other: str) -> bool:
    """Whether two texts are SVGs that show the same."""
    if one == other:
        return True
    try:
        pairs = list(zip(_elements(one), _elements(other), strict=True))
    except (ET.ParseError, ValueError):  # no SVG, or one with more elements
        return False
    return all(_same(a, b) for a, b in pairs)


def _elements(svg: str) -> Iterator[ET.Element]:
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))  # words are comments
    return ET.fromstring(svg, parser).iter()


def _same(a: ET.Element, b: ET.Element) -> bool:
    if a.tag != b.tag or (a.text or "").strip() != (b.text or "").strip():
        return False
    return a.keys() == b.keys() and all(
        _near(key, a.attrib[key], b.attrib[key]) for key in a.attrib
    )


def _near(key: str, a: str, b: str) -> bool:
    if a == b:
        return True
    if key == "d":
        return _same_curve(a, b)
    if a.startswith("data:image/png") and b.startswith("data:image/png"):
        from matplotlib.image import imread  # which takes long, and few runs come here

        p, q = (255.0 * imread(io.BytesIO(base64.b64decode(x.split(",")[1]))) for x in (a, b))
        return p.shape == q.shape and float(np.abs(p - q).max()) <= IMAGE
    a, b = (HASHED.sub("hashed", each) for each in (a, b))
    if NUMBER.split(a) != NUMBER.split(b) or SIZES.findall(a) != SIZES.findall(b):
        return False
    numbers = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(abs(float(x) - float(y)) <= TOLERANCE for x, y in numbers)


def _same_curve(one: str, other: str) -> bool:
    curves = _strokes(one), _strokes(other)
    ends = [np.stack([c.min(axis=(0, 1)), c.max(axis=(0, 1)), c[0, 0], c[-1, 1]]) for c in curves]
    return bool((np.abs(ends[0] - ends[1]) <= ROOM).all()) and all(
        (distances(part, of) <= TOLERANCE).all()
        for curve, of, (_, _, first, last) in zip(curves, curves[::-1], ends, strict=True)
        for points in (curve[:, 1], curve.mean(axis=1))
        for part in np.array_split(_inner(points, first, last), 1 + len(curve) // 500)
    )


def _inner(points: np.ndarray, *ends: np.ndarray) -> np.ndarray:
    """Those that are not next to an end."""
    far = [np.linalg.norm(points - end, axis=1) > ENDS for end in ends]
    return points[np.all(far, axis=0)]


def _strokes(path: str) -> np.ndarray:
    """The strokes (k, 2, 2) of a path, from corner to corner; a move is one on the spot."""
    strokes = []
    for part in path.split("M")[1:] or [""]:
        numbers = [float(x) for x in NUMBER.findall(part)]
        p = np.array(numbers[: len(numbers) // 2 * 2] or [0.0, 0.0]).reshape(-1, 2)
        strokes.append(np.stack([np.vstack([p[:1], p[:-1]]), p], axis=1))
    return np.concatenate(strokes)
