"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
D.1, the remark on convexity.

It says that all the bounds of Theorems 3.3 and 3.8 are convex functions of time. For one layer
(Theorem 3.3), with v* = |w*| = 1, the bounds are a + (|w0| - a) exp(-t/2), a = 1 - eps_0 for the
lower one and a = 1 for the upper one. Their second derivative is (|w0| - a) exp(-t/2) / 4: both are
concave where |w0| is small. True instead: such a bound is convex if |w0| is at least its final
level.
"""

from math import exp, pi


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


start, kept = 0.1, 1 / pi  # |w0|, and 1 - eps_0 = (sin phi - phi cos phi) / pi at phi_0 = pi/2
check("|w0| = 1/10 > 0 is below 1 - eps_0 = 1/pi", 0 < start < kept)
for name, a in (("lower", kept), ("upper", 1.0)):

    def bound(t, a=a):
        return a * (1 - exp(-t / 2)) + start * exp(-t / 2)

    h = 0.01
    second = (bound(1 + h) - 2 * bound(1) + bound(1 - h)) / h**2
    print(f"{name} bound at t = 1: {(start - a) * exp(-0.5) / 4:.4f}, by differences {second:.4f}")
    check("it is negative", second < -0.01)
print("So neither bound is convex.")
