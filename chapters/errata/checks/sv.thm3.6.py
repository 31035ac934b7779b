"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Theorem 3.6.

The theorem, under A2: let w1 and w2 be local minima of L(w) = 1/2 sum_i (max(0, w.x_i) - y_i)^2
with the sets of support vectors (data with w.x > 0) S1 and S2. If S2 is a subset of S1, then
L(w2) >= L(w1).

Three data in the plane break it. True instead: it holds where w1 fits all of S1 exactly.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(1, 0), (0, 1), (1, 1)], [2, 1, 1]
W1, W2 = (F(4, 3), F(1, 3)), (F(2), F(-1))


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


def support(w):
    return {i for i, x in enumerate(X) if dot(x, w) > 0}


def loss(w):
    return sum((max(F(0), dot(x, w)) - y) ** 2 for x, y in zip(X, Y)) / 2


def is_local_minimum(w):
    """Inside a cell the loss is a quadratic: its gradient is 0 there, its matrix H positive."""
    s = support(w)
    gradient = [sum((dot(X[i], w) - Y[i]) * X[i][k] for i in s) for k in (0, 1)]
    a, b, c = (sum(X[i][j] * X[i][k] for i in s) for j, k in ((0, 0), (0, 1), (1, 1)))
    inside = all(dot(x, w) != 0 for x in X)
    return inside and gradient == [0, 0] and a > 0 and a * c - b * b > 0


check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
check("A3: the data span the plane", X[0][0] * X[1][1] - X[0][1] * X[1][0] != 0)
check("w1 = (4/3, 1/3) is a local minimum", is_local_minimum(W1))
check("w2 = (2, -1) is a local minimum", is_local_minimum(W2))
check("the support vectors of w2 are among those of w1", support(W2) < support(W1))
print(f"support of w1: {len(support(W1))} data, L(w1) = {loss(W1)}")
print(f"support of w2: {len(support(W2))} data, L(w2) = {loss(W2)}")
check("L(w2) < L(w1)", loss(W2) < loss(W1))
print("So the minimum with fewer support vectors is the better one. Theorem 3.6 fails.")
