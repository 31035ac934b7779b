"""Cells and local minima by trying every sign pattern, in fractions: slow, exact, and obvious.

It shares no code with `reluflow.geometry`, and knows nothing but Fourier's elimination for
inequalities, of which an equation is two, and Gauss's, by FLINT, for normal equations. For at most
six data in three dimensions.
"""

from fractions import Fraction
from itertools import product

from flint import fmpq, fmpq_mat
from reluflow.exact import null_vectors

Vector = list[Fraction]
Condition = tuple[Vector, Fraction, str]
"""a.v + c "<", "<=" or "=" 0."""


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def feasible(conditions: list[Condition]) -> bool:
    """Whether some v meets all conditions: one variable after the other is eliminated."""
    rows = [(a, c, "<" if kind == "<" else "<=") for a, c, kind in conditions]
    rows += [([-v for v in a], -c, "<=") for a, c, kind in conditions if kind == "="]
    for j in range(len(rows[0][0]) if rows else 0):
        above, below = ([r for r in rows if s * r[0][j] > 0] for s in (1, -1))
        rows = [r for r in rows if r[0][j] == 0]
        for p, q in product(above, below):
            strict = "<" if "<" in (p[2], q[2]) else "<="
            rows.append(_sum(p, q, -p[0][j] / q[0][j], strict))
        rows = _tightest(rows)
    return all(c < 0 or (c == 0 and kind == "<=") for _, c, kind in rows)


def _sum(p: Condition, q: Condition, share: Fraction, kind: str) -> Condition:
    return [x + share * z for x, z in zip(p[0], q[0], strict=True)], p[1] + share * q[1], kind


def _tightest(rows: list[Condition]) -> list[Condition]:
    """Of conditions with parallel left sides the one that implies the others."""
    best: dict[tuple, tuple] = {}
    for a, c, kind in rows:
        size = max(map(abs, a), default=Fraction(0)) or Fraction(1)
        key = tuple(v / size for v in a)
        best[key] = max(best.get(key, (c / size, False)), (c / size, kind == "<"))
    return [(list(a), c, "<" if strict else "<=") for a, (c, strict) in best.items()]


def cells(X: list[Vector]) -> set[tuple[int, ...]]:
    """The active data of every open cell."""
    live = [i for i, x in enumerate(X) if any(x)]
    found = set()
    for signs in product((1, -1), repeat=len(live)):
        sides = dict(zip(live, signs, strict=True))
        if feasible([([-s * v for v in X[i]], Fraction(0), "<") for i, s in sides.items()]):
            found.add(tuple(i for i in live if sides[i] > 0))
    return found


def reduced(rows: list[Vector]) -> tuple[list[Vector], list[int]]:
    """Reduced echelon form, without its zero rows, and its pivot columns."""
    if not rows:
        return [], []
    R, rank = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in rows]).rref()
    rows = [[Fraction(int(v.p), int(v.q)) for v in row] for row in R.tolist()[:rank]]
    return rows, [next(c for c, v in enumerate(row) if v) for row in rows]


def local_minima(X: list[Vector], y: Vector) -> dict[tuple, tuple[Fraction, int]]:
    """All sets of local minima: {(active data, data on their boundary): (loss, dimension)}.

    Every face of the arrangement, a choice of sign +, 0, - for each datum, is asked whether the
    loss restricted to its span has a minimum inside it, whether some direction lowers the loss
    from there, and whether the minima go on beyond the face's boundaries.
    """
    n, d = len(X), len(X[0])
    live, found = [i for i in range(n) if any(X[i])], {}
    for signs in product((1, 0, -1), repeat=len(live)):
        on, edge, off = (
            [i for i, s in zip(live, signs, strict=True) if s == side] for side in (1, 0, -1)
        )
        N = null_vectors([X[i] for i in edge], d)
        R = {i: [dot(X[i], v) for v in N] for i in live}
        if not all(any(R[i]) for i in on + off):
            continue
        normal = [
            [sum(R[i][a] * R[i][b] for i in on) for b in range(len(N))]
            + [sum(R[i][a] * y[i] for i in on)]
            for a in range(len(N))
        ] if on else []  # fmt: skip
        rows, pivots = reduced(normal)
        u = [Fraction(0)] * len(N)
        for row, p in zip(rows, pivots, strict=True):
            u[p] = row[-1]
        h = {i: dot(R[i], u) for i in live}
        inside = [(R[i], -h[i], "=") for i in on] + [(R[i], Fraction(0), "<") for i in off]
        if any(h[i] <= 0 for i in on) or not feasible(inside):
            continue
        g = [sum(((h[i] - y[i]) * X[i][c] for i in on), Fraction(0)) for c in range(d)]
        if _falls(X, y, g, edge) or _goes_on(X, on, edge):
            continue
        loss = sum((h[i] - y[i]) ** 2 if i in on else y[i] ** 2 for i in range(n)) / 2
        found[tuple(on), tuple(edge)] = (loss, len(N) - len(pivots))
    return found


def _falls(X: list[Vector], y: Vector, g: Vector, edge: list[int]) -> bool:
    """Whether g.v - sum_edge y_j [x_j.v]_+ < 0 for some v."""
    for signs in product((1, -1), repeat=len(edge)):
        sides = dict(zip(edge, signs, strict=True))
        slope = [
            g[c] - sum((y[i] * X[i][c] for i in edge if sides[i] > 0), Fraction(0))
            for c in range(len(g))
        ]
        around = [([-s * v for v in X[i]], Fraction(0), "<=") for i, s in sides.items()]
        if feasible([*around, (slope, Fraction(0), "<")]):
            return True
    return False


def _goes_on(X: list[Vector], on: list[int], edge: list[int]) -> bool:
    """Whether some v leaves the boundaries `edge` for x_j.v <= 0 and changes no x_i.w of `on`."""
    if not edge:
        return False
    total = [sum((X[i][c] for i in edge), Fraction(0)) for c in range(len(X[0]))]
    return feasible(
        [(X[i], Fraction(0), "=") for i in on]
        + [(X[i], Fraction(0), "<=") for i in edge]
        + [(total, Fraction(0), "<")]
    )
