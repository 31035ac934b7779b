"""Vardi, Shamir, Srebro, On Margin Maximization in Linear and ReLU Networks (arXiv 2110.02732v4),
Theorem 2.1, its assumption.

"L(theta(t_0)) < 1, namely, Phi classifies every x_i correctly", for the exponential and the
logistic loss, L = sum_i l(y_i Phi(x_i)). For the logistic loss l(q) = log(1 + exp(-q)) a loss below
1 does not give this: one datum x = y = 1, Phi = v w x. True instead: L < log 2 gives it, the loss
of one datum with output 0.
"""

from math import exp, log


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


x, y, w, v = 1.0, 1, -0.5, 0.5
loss = log(1 + exp(-y * v * w * x))
check("Phi = v w x is homogeneous of degree 2 in (v, w)", (3 * v) * (3 * w) * x == 9 * (v * w * x))
print(f"at w = -1/2, v = 1/2: Phi = {v * w * x}, L = {loss:.6f}")
check("L < 1", loss < 1)
check("the datum is on the wrong side: y Phi < 0", y * v * w * x < 0)
print("So a loss below 1 does not mean that all data are right, for the logistic loss.")
