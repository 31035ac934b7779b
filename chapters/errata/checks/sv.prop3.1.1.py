"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Proposition 3.1, "if".

The proposition: if x.w(s) = 0 and grad L(w(s)).x >= 0, the flow deactivates the datum x at time s,
that is, x.w(t) < 0 for a while after s. Here L(w) = 1/2 sum_i (max(0, w.x_i) - y_i)^2, and a datum
with x.w <= 0 does not contribute to the gradient.

One datum x = 1 with the label y = 1 breaks it at w = 0: from there w stays 0 or grows.
True instead: with sigma = grad L(w).x, the datum is deactivated if sigma > y |x|^2, and not if
sigma < 0; in between the boundary repels.
"""

from fractions import Fraction

X, Y = Fraction(1), Fraction(1)


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def gradient(w):
    """L'(w): the datum contributes where x w > 0."""
    return (w * X - Y) * X if w * X > 0 else Fraction(0)


check("A1: the datum is not negative, and not 0", X > 0)
check("A2: the label is positive", Y > 0)
check("A3: one datum spans the line", X != 0)
w = Fraction(0)
check("x.w = 0 at w = 0", X * w == 0)
check("grad L(0).x = 0, so it is at least 0", gradient(w) * X >= 0)

# Let a solution from w(s) = 0 have w(t) < 0 at a later t. Going back from t, w stays below 0 on an
# interval that ends at a time r >= s with w(r) = 0. On this interval the velocity is 0, so w is
# constant there: w(t) = w(r) = 0, a contradiction. What is used is that the velocity is 0 below 0:
below = [-Fraction(1, 10**k) for k in range(12)] + [-Fraction(k) for k in range(1, 12)]
check("the velocity is 0 at every w < 0 tried", all(gradient(v) == 0 for v in below))
print(
    "So no flow from w = 0 ever has x.w < 0: the datum is not deactivated. Proposition 3.1 fails."
)
