"""Phuong, Lampert, The Inductive Bias of ReLU Networks on Orthogonally Separable Data (ICLR 2021),
Section 3.1.

It calls the initialisation near zero crucial for Theorem 1, by which W / |W|_F -> u w_+^T + z w_-^T
(8). Here the flow starts from neurons of length 10, and comes to the same limit, slowly: the
distance falls like 1 / sqrt(log(1/loss)). True instead: every balanced start will do that leaves
both labels a neuron. Why: a flow whose loss tends to 0 can end only in the direction of a KKT point
of min |theta|^2 with y f(x) >= 1 (Lyu and Li; Ji and Telgarsky, 2020). There w_j = a_j sum_i l_i
y_i d_ij x_i with l_i >= 0 and d_ij in [0, 1]. Let a_j > 0 and w_j.x > 0 for a negative x. By (OS)
all terms y_i <x_i, x> are <= 0, so w_j.x <= 0: a contradiction. So the neurons with a_j > 0 are
held by positive data, and all are parallel to w_+.
"""

import numpy as np


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = np.array([[2, 1], [1, 2], [-1, -1], [-2, 1]]), np.array([1, 1, -1, -1])
W, A = np.array([[6.0, -8], [10, 0], [6, -8], [0, 10]]), np.array([10.0, 10, -10, -10])
products = Y[:, None] * Y * (X @ X.T)
check("(OS): y_i y_j <x_i, x_j> >= 0", products.min() >= 0)
check("(OS): it is positive for equal labels", products[Y[:, None] == Y].min() > 0)
check("the start is balanced: |w_j| = |a_j| = 10", (np.linalg.norm(W, axis=1) == abs(A)).all())
active = X @ W.T > 0
check("a neuron with a_j > 0 is active on a positive datum", active[Y > 0][:, A > 0].any())
check("one with a_j < 0 is active on a negative datum", active[Y < 0][:, A < 0].any())
# A w with w.x = 1 on two data that is a positive combination of them is the shortest with w.x >= 1.
plus, minus = np.array([1, 1]) / 3, np.array([-2, -1]) / 3
for name, data, w in (("w_+", X[:2], plus), ("w_-", X[2:], minus)):
    check(f"{name} is 1 on its data", np.allclose(data @ w, 1))
    check("and a positive combination of them", np.linalg.solve(data.T, w).min() > 0)


def distance():
    """How far the rows of W / |W|_F are from the rays of w_+ and w_-, by the sign of a_j."""
    off = 0.0
    for w, a in zip(W, A):
        ray = (plus if a > 0 else minus) / np.linalg.norm(plus if a > 0 else minus)
        off += w @ w - max(0.0, w @ ray) ** 2
    return (off / np.sum(W * W)) ** 0.5


marks, seen = [1e2, 1e3, 1e4], []
while marks:
    q = Y * (np.maximum(X @ W.T, 0) @ A)  # the margins; the loss is sum log(1 + exp(-q))
    least = q.min()
    if least > marks[0]:
        seen.append(distance())
        print(f"at a loss of about exp(-{marks.pop(0):.0f}) the distance of (8) is {seen[-1]:.3f}")
    # The velocity over the loss: another clock along the same path. Pulls are scaled by the
    # largest.
    pull = 1 / (1 + np.exp(np.minimum(q, 700))) if least < 30 else np.exp(-(q - least))
    pull = Y * pull / pull.sum()
    on = X @ W.T > 0
    h = 1.0 / (1 + np.sum(W * W) + A @ A)
    W, A = (
        W + h * A[:, None] * (on * pull[:, None]).T @ X,
        A + h * (np.maximum(X @ W.T, 0).T @ pull),
    )
check(
    "the distance falls from mark to mark, below a half",
    seen == sorted(seen)[::-1] and seen[-1] < 0.5,
)
print("So a start that is far from zero leads to (8) too.")
