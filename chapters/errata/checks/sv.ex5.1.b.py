"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022),
Figure 3(b) and G.1: the flows from seven starts near 0 converge to one point, and it is
the global minimum. They do converge to one point, but the flow from (0, 45) finds a better one.

L(w) = 1/2 sum_i (max(0, w.x_i) - y_i)^2. The flow dw/dt = -grad L(w) is followed by small steps
until it is near a stationary point; that point is then computed in fractions, and checked.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


# Each row: the two entries of x, and y, as printed.
PRINTED = """.8858 .0244 .6111, .4338 .8852 .9397, .6739 .0399 1.8694, .0221 .4778 2.7104,
.2322 .8717 1.3089"""
DATA = [tuple(map(F, row.split())) for row in PRINTED.split(",")]
FLOATS = [tuple(map(float, row)) for row in DATA]
SEVEN = [
    (-0.05, 0.15),
    (0.1, -0.1),
    (-0.15, 0.15),
    (-0.25, 0.02),
    (0.01, -0.1),
    (0.1, -0.2),
    (0.17, 0.1),
]


def velocity(w):
    pulls = [(float(y) - (h := a * w[0] + b * w[1]), a, b, h) for a, b, y in FLOATS]
    return [sum(p[0] * p[k] for p in pulls if p[3] > 0) for k in (1, 2)]


def flow(w, steps=1_000, step=0.2):
    """Heun's method, up to t = steps / 5."""
    for _ in range(steps):
        v = velocity(w)
        u = velocity([w[k] + step * v[k] for k in (0, 1)])
        w = [w[k] + step * (v[k] + u[k]) / 2 for k in (0, 1)]
    return w


def minimum_near(w):
    """The local minimum of the cell of w in fractions, by normal equations, and its loss."""
    s = [row for row, x in zip(DATA, FLOATS) if x[0] * w[0] + x[1] * w[1] > 0]
    a, b, c = (sum(x[j] * x[k] for x in s) for j, k in ((0, 0), (0, 1), (1, 1)))
    p, q = (sum(x[j] * x[2] for x in s) for j in (0, 1))
    u = ((c * p - b * q) / (a * c - b * b), (a * q - b * p) / (a * c - b * b))
    inside = [row for row in DATA if row[0] * u[0] + row[1] * u[1] > 0] == s
    near = max(abs(float(e) - v) for e, v in zip(u, w)) < 1e-4
    check(
        f"the flow ends at a local minimum ({float(u[0]):.4f}, {float(u[1]):.4f})", inside and near
    )
    return u, sum((max(F(0), x * u[0] + z * u[1]) - y) ** 2 for x, z, y in DATA) / 2


check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x[:2]) > 0 for x in DATA))
check("A2: all labels are positive", all(x[2] > 0 for x in DATA))
check("A3: the data span the plane", DATA[0][0] * DATA[1][1] != DATA[0][1] * DATA[1][0])
ends = [minimum_near(flow(start)) for start in SEVEN]
check("all of them are one point", len(set(ends)) == 1)
better = minimum_near(flow((0.0, 45.0), 10_000))
print(f"its loss is {float(ends[0][1]):.4f}; from (0, 45) it is {float(better[1]):.4f}")
check("the point is not the global minimum", better[1] < ends[0][1])
print("So the seven flows agree, and not on the global minimum.")
