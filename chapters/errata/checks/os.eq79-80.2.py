"""Phuong, Lampert, The Inductive Bias of ReLU Networks on Orthogonally Separable Data (ICLR 2021),
equation (80).

With w_- the shortest w with w.x >= 1 on all negative data (7), it prints y_i w_-.x_i > 0 for
negative x_i, where y_i = -1. The factor y_i is one too many, a misprint: w_-.x_i >= 1 > 0 by (7).
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [F(1), F(-1)], [1, -1]
check(
    "(OS): x_i x_j y_i y_j > 0", all(X[i] * X[j] * Y[i] * Y[j] > 0 for i in (0, 1) for j in (0, 1))
)
w_minus = 1 / X[1]  # the shortest w with w x_2 >= 1
check("w_- x_2 = 1, so w_- is the shortest with w x_2 >= 1", w_minus * X[1] == 1)
print(f"w_- = {w_minus}; y_2 w_- x_2 = {Y[1] * w_minus * X[1]}")
check("y_2 w_- x_2 > 0 fails", not Y[1] * w_minus * X[1] > 0)
print("So (80) is false as printed, and true without the factor y_i.")
