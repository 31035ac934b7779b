"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Proposition F.4, uniqueness.

The proposition: for every start w0 the flow dw/dt = -grad L(w) has at most one solution, in the
extended sense (absolutely continuous, the equation for almost every t). Here
L(w) = 1/2 sum_i (max(0, w.x_i) - y_i)^2, and a datum with w.x <= 0 does not contribute.

One datum x = 1 with the label 1 breaks it at w0 = 0: both w(t) = 0 and w(t) = 1 - exp(-t) solve it.
True instead, for positive labels: the flow is unique for almost every start.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = F(1), F(1)


def velocity(w):
    return (Y - w * X) * X if w * X > 0 else F(0)


check("A1: the datum is not negative, and not 0", X > 0)
check("A2: the label is positive", Y > 0)
check("A3: one datum spans the line", X != 0)
check("w(t) = 0 solves: the velocity at 0 is 0", velocity(F(0)) == 0)
# w(t) = 1 - s with s = exp(-t) has dw/dt = s. It starts at 0, and for t > 0, that is 0 < s < 1, the
# velocity at 1 - s is 1 - (1 - s) = s. Both sides are linear in s, so that two values of s suffice.
w = {s: 1 - s for s in (F(1), F(1, 3), F(2, 3))}
check("1 - exp(-t) starts at 0", w[1] == 0)
check("1 - exp(-t) solves for t > 0", all(velocity(w[s]) == s for s in (F(1, 3), F(2, 3))))
print("So two flows start at w0 = 0. They are not unique.")
