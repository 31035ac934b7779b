"""Vardi, Shamir, Srebro, On Margin Maximization in Linear and ReLU Networks (arXiv 2110.02732v4),
Appendix C.3, a step of the proof of Theorem 3.2.

With x_1 = (1, 1/4), x_2 = (-1, 1/4) and w_1(0) = (1, 5), say, it uses that every w with w[2] >= 0
and 0 <= w[1] <= w_1(0)[1] has <w, x_1> > <w, x_2> > 0. False at the edges of this range. Theorem
3.2 stands. True instead: <w, x_1> >= <w, x_2> > 0 if 0 <= w[1] < w[2] / 4, which the flow keeps.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X1, X2, START = (F(1), F(1, 4)), (F(-1), F(1, 4)), (F(1), F(5))


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


check(
    "w_1(0) = (1, 5) is active on both data, as the theorem's start asks",
    min(dot(START, X1), dot(START, X2)) > 0,
)
for w in ((F(1), F(0)), (F(0), F(1))):
    check(f"w = ({w[0]}, {w[1]}) lies in the range", w[1] >= 0 and 0 <= w[0] <= START[0])
    print(f"     <w, x_1> = {dot(w, X1)}, <w, x_2> = {dot(w, X2)}")
    check("<w, x_1> > <w, x_2> > 0 fails", not dot(w, X1) > dot(w, X2) > 0)
print("So the step is false as printed.")
