"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Theorem 4.1, first part, equation (12).

The theorem: let dw/dt = F(w) have the solution w(t) = g(exp(-ct)) with a one-to-one g in C^2([0,
1]). Then descent w(T+1) = w(T) + eta F(w(T)) from w(0) = g(1), eta << 1/c, is g((1 - c eta)^T) +
O(T eta^2).

Take F(w) = -w log(1/w) for w > 0 and -sqrt|w| for w <= 0, from w(0) = 1/e, with c = 1. The solution
is exp(-exp(t)), so g(x) = exp(-1/x), g(0) = 0. Descent jumps over 0 and then runs off to minus
infinity. True instead: if g' has no zero on [0, 1].
"""

from math import exp, log, sqrt


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def F(w):
    return w * log(w) if w > 0 else -sqrt(-w)


def g(x):
    return exp(-1 / x) if x > 0 else 0.0


xs = [k / 1000 for k in range(2, 1001)]
check("g is one-to-one: it grows", all(g(a) < g(b) for a, b in zip(xs, xs[1:])))
# g' = g / x^2 and g'' = g (1 - 2x) / x^4 for x > 0. With y = 1/x both are a power of y times
# exp(-y), which tends to 0 as x -> 0: g is in C^2([0, 1]), with g' = g'' = 0 at 0.
check("g'' tends to 0 at 0", abs(g(0.01) * (1 - 0.02) / 0.01**4) < 1e-30)
# w = exp(-exp(t)) has dw/dt = -exp(t) w = w log w: it solves the equation, and is g(exp(-t)).
check("w(0) = g(1) = 1/e", g(1.0) == exp(-1))
check("F(g(x)) = -x g'(x), the equation in x", all(abs(F(g(x)) + g(x) / x) < 1e-12 for x in xs))
ratios = []
for eta in (0.1, 0.05, 0.02, 0.01):
    w, T, worst = g(1.0), 0, 0.0
    while abs(w - g((1 - eta) ** T)) < 1:
        w, T = w + eta * F(w), T + 1
        worst = max(worst, abs(w - g((1 - eta) ** T)) / (T * eta**2))
    ratios.append(worst)
    print(f"eta = {eta}: after {T} steps w = {w:.3f}; error / (T eta^2) up to there {worst:.1f}")
    check(
        "descent is below -1 and falls from there on, while g is never negative",
        w < -0.9 and F(w) < 0,
    )
check(
    "error / (T eta^2) grows as eta falls", ratios == sorted(ratios) and ratios[-1] > 5 * ratios[0]
)
print("So no constant bounds the error by T eta^2, for small steps either. Theorem 4.1 fails.")
