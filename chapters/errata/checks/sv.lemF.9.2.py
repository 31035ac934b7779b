"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Lemma F.9, the first cell.

The lemma (A1, A2, A3, d = 2): the flow dw/dt = -grad L(w) from a start of small enough norm, in the
cell where all data are active, converges in the first of the cells that it meets that contains a
stationary point. (A cell is the set of all weights with the same active data, those with w.x > 0.)

Three data break it: the flow stays in the all-active cell, which contains no stationary point, and
converges to a point of its boundary. True instead: if no virtual minimum lies on a boundary.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(1, 0), (0, 1), (1, 1)], [3, 1, 1]
check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
check("A3: the data span the plane", X[0][0] * X[1][1] - X[0][1] * X[1][0] != 0)
# With all data active dw/dt = q - H w, with
q = [sum(y * x[k] for x, y in zip(X, Y)) for k in (0, 1)]
H = [[sum(x[j] * x[k] for x in X) for k in (0, 1)] for j in (0, 1)]
check("q = (4, 2) and H = [[2, 1], [1, 2]]", q == [4, 2] and H == [[2, 1], [1, 2]])
check(
    "q = H w only at w = (2, 0)",
    [2 * row[0] for row in H] == q and H[0][0] * H[1][1] != H[0][1] ** 2,
)
check("there x_2.w = 0, so it is not in the all-active cell", X[1][0] * 2 + X[1][1] * 0 == 0)

# H has the eigenvector (1, 1) with 3 and (1, -1) with 1. From e (1, 1), 0 < e < 1, with s =
# exp(-t),
#   w_1 = 2 - (1 - e) s^3 - s,    w_2 = s (1 - (1 - e) s^2),
# and both are positive for 0 < s <= 1: w_1 >= 2 - (1 - e) - 1 = e, and w_2 >= s e.
for e in (F(1, 10), F(1, 10**6)):

    def w(s, e=e):
        return 2 - (1 - e) * s**3 - s, s * (1 - (1 - e) * s**2)

    check(f"e = {e}: the formula starts at (e, e)", w(F(1)) == (e, e))
    slope = (3 * (1 - e) + 1, -1 + 3 * (1 - e))  # d/dt = -s d/ds, at s = 1
    check("it has the velocity q - H w there", slope == tuple(p - 3 * e for p in q))
    tried = [w(F(k, 1000)) for k in range(1, 1001)]
    check("at 1000 values of s all data are active", all(min(v) > 0 for v in tried))
    check("it tends to (2, 0)", w(F(0)) == (2, 0))
print(
    "So the flow meets one cell only, and converges outside it, to a point that lies on a boundary"
)
print("and in no cell that it meets. The lemma fails.")
