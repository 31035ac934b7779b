"""Phuong, Lampert, The Inductive Bias of ReLU Networks on Orthogonally Separable Data (ICLR 2021),
Section 2.

It says that the results hold for every loss sum_i l_i(f(x_i)) whose l_i have a bounded Lipschitz
derivative with -y_i l_i'(u) > 0. Take l_i(u) = -y_i u, and five orthogonally separable data.
Theorem 1 says W / |W|_F -> u w_+^T + z w_-^T, where w_+ is the shortest w with w.x >= 1 on the
positive data. But the neurons with a_j > 0 tend to the direction of the sum of the positive data,
which is another one. Signs, boundedness and Lipschitz slopes are not enough.
"""

from fractions import Fraction as F
from math import sqrt


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


POSITIVE, NEGATIVE = [(2, 1), (1, 2), (3, 1)], [(-1, -2), (-2, -1)]
START = {(1, 0): 1, (0, 1): 1, (-1, 0): -1, (0, -1): -1}  # w_j(0) / lambda, and the sign of a_j(0)


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


check("(OS), equal labels", all(dot(a, b) > 0 for d in (POSITIVE, NEGATIVE) for a in d for b in d))
check("(OS), different labels", all(dot(a, b) <= 0 for a in POSITIVE for b in NEGATIVE))
for y in (1, -1):  # l_i(u) = -y u has the constant derivative -y, so it is bounded and Lipschitz
    slopes = {(-y * (u + 1)) - (-y * u) for u in range(-50, 50)}
    check(f"-y l'(u) > 0 for y = {y}", slopes == {-y} and -y * slopes.pop() > 0)
w_plus = (F(1, 3), F(1, 3))
check(
    "w_+ = (1/3, 1/3) has w.x >= 1 on the positive data", min(dot(w_plus, x) for x in POSITIVE) == 1
)
check("it is the shortest: a positive combination of data with w.x = 1",
      all(dot(w_plus, x) == 1 for x in POSITIVE[:2])
      and w_plus == tuple(F(a + b, 9) for a, b in zip(*POSITIVE[:2])))  # fmt: skip
for w, sign in START.items():
    mine, other = (POSITIVE, NEGATIVE) if sign > 0 else (NEGATIVE, POSITIVE)
    check(f"w = {w}, a = {sign} is balanced, active on all data of its label and on no others",
          dot(w, w) == 1 and min(dot(w, x) for x in mine) > 0
          and max(dot(w, x) for x in other) <= 0)  # fmt: skip
    # With s the sum of its data dw/dt = |a| s and d|a|/dt = <w, s>. By (OS) <s, x> > 0 on its data
    # and <= 0 on the others, so it stays so; <w, s> grows without bound like exp(|s| t), and w /
    # |w| tends to s / |s|.
    s = tuple(sum(x[k] for x in mine) for k in (0, 1))
    check("<s, x> > 0 on its data, <= 0 on the others",
          min(dot(s, x) for x in mine) > 0 >= max(dot(s, x) for x in other))  # fmt: skip
s, t = (6, 4), (-3, -3)  # the sums of the positive and of the negative data
check("the positive group grows faster, so it has all of |W|_F in the end", dot(s, s) > dot(t, t))
sine = sqrt(F((s[0] * w_plus[1] - s[1] * w_plus[0]) ** 2) / (dot(s, s) * dot(w_plus, w_plus)))
print(f"its rows tend to the direction of (6, 4); the sine of the angle to w_+ is {sine:.4f}")
check("the distance of (8) tends to this sine, and not to 0", sine > 0.19)
print("So Theorem 1 does not hold for this loss.")
