"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Lemma F.8, the global minimum.

The lemma (A1, A2, A3, d = 2): a stationary point w* in the cell where all data are active is the
global minimum of L(w) = 1/2 sum_i (max(0, w.x_i) - y_i)^2. (That small starts converge to w* is
right.) Three data break it. True instead: w* is global if it fits all labels exactly.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(1, 0), (0, 1), (1, 1)], [2, 1, 1]
W, BETTER = (F(4, 3), F(1, 3)), (F(2), F(-1))


def inputs(w):
    return [x[0] * w[0] + x[1] * w[1] for x in X]


def loss(w):
    return sum((max(F(0), h) - y) ** 2 for h, y in zip(inputs(w), Y)) / 2


check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
check("A3: the data span the plane", X[0][0] * X[1][1] - X[0][1] * X[1][0] != 0)
check("all data are active at w* = (4/3, 1/3)", min(inputs(W)) > 0)
gradient = [sum((h - y) * x[k] for h, x, y in zip(inputs(W), X, Y)) for k in (0, 1)]
check("the gradient at w* is 0", gradient == [0, 0])
print(f"L(w*) = {loss(W)}, and L(2, -1) = {loss(BETTER)}")
check("L(2, -1) < L(w*)", loss(BETTER) < loss(W))
print("So w* is not the global minimum. The lemma fails in this point.")
