"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Proposition 4.4.

The proposition (A1, A2, A3): if H(w(t)), the sum of x x^T over the active data, has rank d along
the flow dw/dt = -grad L(w), then all flows from w0 with |w0| small and -grad L(w0) > 0 converge to
one point. Five data in space break it: the flow from 0 touches the boundary of x_1 and turns back.
From e (1, 1, 1) the flow keeps x_1, from e (1, 1, 3) it loses it, however small e > 0 is.
"""

from fractions import Fraction as F
from itertools import product

import numpy as np


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)])
y = np.array([9, 40, 13, 3, 53])
check("A1: no entry is negative, no datum is 0", bool((X >= 0).all() and X.any(axis=1).all()))
check("A2: all labels are positive", min(y) > 0)
check("A3: the data span the space", np.linalg.matrix_rank(X) == 3)
# x_4 = x_1 + x_3 and x_5 = x_2 + x_3: a sum is active only with one of its terms.
sets = [s for s in product((0, 1), repeat=5) if s[0] + s[2] >= s[3] and s[1] + s[2] >= s[4]]
forced = [X[np.array(s, bool)] for s in sets if (np.array(s) @ X > 0).all()]
check("H has rank 3 in each cell with q > 0", {np.linalg.matrix_rank(A) for A in forced} == {3})

# With all data active dw/dt = q - H w, and s = exp(-t): x.w = sum_k c_k s^k + e sum_k r_k s^k.
q, H, vectors = y @ X, X.T @ X, {1: (1, 1, -1), 2: (1, -1, 0), 4: (1, 1, 2)}
for k, v in vectors.items():
    check(f"H has the eigenvector {v} with {k}", (H @ v == k * np.array(v)).all())
c, r = [], {(1, 1, 1): [], (1, 1, 3): []}
for x in X:
    share = {k: F(int(x @ v), int(np.dot(v, v))) for k, v in vectors.items()}
    c.append({k: -share[k] * int(q @ v) / k for k, v in vectors.items()})
    c[-1][0] = -sum(c[-1].values())  # at e = 0 and s = 1 all inputs are 0
    for u, added in r.items():
        added.append({k: share[k] * int(np.dot(u, v)) for k, v in vectors.items()})
touch = {0: F(15, 8), 1: -12, 2: F(81, 4), 4: -F(81, 8)}  # 3/8 (1 - s) (1 - 3 s)^2 (5 + 3 s)
check("for e = 0 x_1.w touches 0 at s = 1/3 from above, and is positive elsewhere", c[0] == touch)
keep, lose = r[1, 1, 1], r[1, 1, 3]
check("from e (1, 1, 1) more than 0 is added to x_1.w", min(keep[0].values()) >= 0 < keep[0][1])
bends = [c[i][k] + keep[i][k] for i in (1, 2) for k in (2, 4)]
ends = [value for i in (1, 2) for value in (c[i][0], sum(keep[i].values()))]
check("there x_2.w and x_3.w are concave in s, e <= 1", max(bends) <= 0)
check("and positive at s = 0 and at s = 1: no datum is lost", min(ends) > 0)
added = sum(v * F(1, 3) ** k for k, v in lose[0].items())
check("from e (1, 1, 3) x_1.w would be negative at s = 1/3: x_1 is lost on the way", added < 0)
limits, on = [], set()
for w in np.array([(1, 1, 1), (1, 1, 3)]) * 0.1:
    check("-grad L(w0) > 0", (q - H @ w > 0).all())
    for _ in range(15_000):  # small steps
        on.add(tuple(X @ w > 0))
        w = w + 1e-3 * (np.where(X @ w > 0, y - X @ w, 0) @ X)
    limits.append(w)
print("limits by small steps from e = 1/10:", *(w.round(2) for w in limits))
check("H has rank 3 on the way", {np.linalg.matrix_rank(X[np.array(s)]) for s in on} == {3})
check("they are 13 apart", abs(np.linalg.norm(limits[0] - limits[1]) - 13) < 0.1)
