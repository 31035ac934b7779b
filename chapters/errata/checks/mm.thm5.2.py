"""Vardi, Shamir, Srebro, On Margin Maximization in Linear and ReLU Networks (arXiv 2110.02732v4),
Theorem 5.2.

For any linear network and L(theta(t_0)) < 1, exponential or logistic loss, gradient flow is to
converge in direction to a KKT point of Problem (2) - minimise |theta|^2 / 2 subject to y_i
Phi(theta; x_i) >= 1 - at which each layer is optimal given the others. Take the logistic loss and
Phi = v_1 w.p_1 + v_2 w.p_2, a filter w on two patches: datum 1 has p = (1, -1), (-1, 0), datum 2
has p = (0, 0), (0, 1), both with the label 1. From w = v = (2, b) with one b between 0 and 1/4 the
loss tends to log 2, and in the limit of the direction the second datum has the output 0. True
instead: if L(theta(t_0)) < log 2.
"""

from fractions import Fraction as F
from math import exp, log


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def outputs(w, v):
    return v[0] * (w[0] - w[1]) - v[1] * w[0], v[1] * w[1]


# w = v stays: the gradients of Phi by w and by v are equal there. By differences, which are exact
# here:
w, h = (F(3), F(1, 7)), F(1, 100)
for k in (0, 1):
    up = tuple(w[j] + h * (j == k) for j in (0, 1))
    check("Phi changes alike if w_k or v_k is moved", outputs(up, w) == outputs(w, up))


def follow(b, until=30.0, step=1e-2):
    """On w = v = (p, r), from (2, b): Phi = p^2 - 2 p r and r^2. Ends where r leaves (0, 1/4)."""
    p, r, t = 2.0, b, 0.0

    def velocity(p, r):
        c1, c2 = 1 / (1 + exp(p * p - 2 * p * r)), 1 / (1 + exp(r * r))
        return c1 * (p - r), -c1 * p + c2 * r

    while t < until and 0 < r < 0.25:
        a = velocity(p, r)
        m = velocity(p + step / 2 * a[0], r + step / 2 * a[1])
        p, r, t = p + step * m[0], r + step * m[1], t + step
    return p, r, t, log(1 + exp(-p * p + 2 * p * r)) + log(1 + exp(-r * r))


check("for b = 1/100 the entry r falls to 0", follow(0.01)[1] <= 0)
check("for b = 1/5 it grows to 1/4", follow(0.2)[1] >= 0.25)
# r = 0 is crossed downwards, as dr/dt = -c_1 p < 0 there; r = 1/4 upwards, as p >= 2 and there
check("c_2 r > c_1 p", 0.25 / (1 + exp(1 / 16)) > 2 / (1 + exp(4 - 1)))
# and c_1 p falls with p. So the b that end below and those that end above are two open sets, and
# some b ends at neither: 0 < r < 1/4 always. Then p grows without bound and c_1 p tends to 0. So
# does r: where c_2 r > c_1 p it would grow until it meets 1/4. So L tends to log 2.
low, high = 0.01, 0.2
for _ in range(46):
    b = (low + high) / 2
    low, high = (b, high) if follow(b)[1] <= 0 else (low, b)
p, r, t, loss = follow(low, until=20)  # at t = 30 r would be 0 by the choice of b
start = outputs((2.0, low), (2.0, low))
print(f"b = {low:.7f}; at the start the outputs are {start[0]:.3f} and {start[1]:.4f}")
check(
    "L < 1 there, and both data are right",
    sum(log(1 + exp(-q)) for q in start) < 1 and min(start) > 0,
)
print(f"at t = {t:.1f}: w = v = ({p:.3f}, {r:.4f}), L = {loss:.4f}, log 2 = {log(2):.4f}")
check("L has not come below log 2", loss > log(2) - 1e-3)
check(
    "the direction comes near (1, 0), where the second output is 0, so no multiple is feasible",
    0 < r / p < 0.01 < low / 2,
)
print("So no KKT point is reached. The theorem fails for the logistic loss with L < 1.")
