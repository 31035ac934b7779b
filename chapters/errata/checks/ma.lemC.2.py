"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Lemma C.2.

The lemma: if du/dt = f(u), dv/dt = g(v), u(t_0) <= v(t_0) and f(x) <= g(x) for all x, then u(t) <=
v(t) for all t >= t_0. Nothing else is asked of f, g or the solutions. f = g = sqrt|x| breaks it.
True instead: if f or g is locally Lipschitz.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def u(t):
    return t * t / 4


def v(t):
    return F(0)


def slope(w, t):
    """The derivative, by a central difference, which is exact for a quadratic."""
    return (w(t + 1) - w(t - 1)) / 2


# f = g = sqrt|x|, so f <= g. Roots are not computed: both sides are at least 0, and squared.
times = [F(k, 7) for k in range(50)]
for name, w in (("u(t) = t^2/4", u), ("v(t) = 0", v)):
    squares = all(slope(w, t) ** 2 == abs(w(t)) for t in times)
    check(f"{name} has a derivative of at least 0", all(slope(w, t) >= 0 for t in times))
    check("and its square is |w|, so that it solves the equation", squares)
check("u(0) <= v(0)", u(F(0)) <= v(F(0)))
print(f"u(2) = {u(F(2))}, v(2) = {v(F(2))}")
check("u(2) > v(2)", u(F(2)) > v(F(2)))
print("So the comparison fails without a Lipschitz condition.")
