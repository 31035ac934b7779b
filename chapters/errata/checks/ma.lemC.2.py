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


# f = g, so f <= g. u(t) = t^2/4 has du/dt = t/2, and f(u) = sqrt(t^2/4) = t/2 for t >= 0; v(t) = 0
# has dv/dt = 0 = sqrt(0). Squares are compared, so that everything is a fraction.
times = [F(k, 7) for k in range(50)]
check(
    "du/dt = sqrt|u|: (t/2)^2 = t^2/4 and t/2 >= 0", all((t / 2) ** 2 == t * t / 4 for t in times)
)
check("dv/dt = sqrt|v| for v = 0", F(0) ** 2 == abs(F(0)))
check("u(0) = 0 <= v(0) = 0", F(0) ** 2 / 4 <= 0)
print(f"u(2) = {F(2) ** 2 / 4}, v(2) = 0")
check("u(2) > v(2)", F(2) ** 2 / 4 > 0)
print("So the comparison fails without a Lipschitz condition.")
