"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Theorem 4.7, the limit.

The theorem (A1, A2, A3, d = 2): the flow dw/dt = -grad L(w) from a start of infinitesimal norm with
q(w0) > 0 converges to the global minimum of L(w) = 1/2 sum_i (max(0, w.x_i) - y_i)^2. Here q(w0) is
the sum of y_i x_i over the data active at w0. (Infinitesimal: for all |w0| below some bound.)

Three data break it, from e (1, 1) for every e in (0, 1/3]. All data stay active, where the flow is
linear, and the limit (4/3, 1/3) has the loss 2/3. But (2, -1) has the loss 1/2.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(1, 0), (0, 1), (1, 1)], [2, 1, 1]


def loss(w):
    return sum((max(F(0), x[0] * w[0] + x[1] * w[1]) - y) ** 2 for x, y in zip(X, Y)) / 2


check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
check("A3: the data span the plane", X[0][0] * X[1][1] - X[0][1] * X[1][0] != 0)

# With all data active dw/dt = q - H w, with
q = [sum(y * x[k] for x, y in zip(X, Y)) for k in (0, 1)]
H = [[sum(x[j] * x[k] for x in X) for k in (0, 1)] for j in (0, 1)]
check("q = (3, 2) > 0 and H = [[2, 1], [1, 2]]", q == [3, 2] and H == [[2, 1], [1, 2]])
limit = (F(4, 3), F(1, 3))
check(
    "q = H w at w = (4/3, 1/3)", all(h[0] * limit[0] + h[1] * limit[1] == p for h, p in zip(H, q))
)

# H has the eigenvector (1, 1) with 3 and (1, -1) with 1. From e (1, 1), with s = exp(-t) in (0, 1],
#   w_1 = 4/3 + (e - 5/6) s^3 - s/2,    w_2 = 1/3 + (e - 5/6) s^3 + s/2.
# w_1 falls with s, since e < 5/6, so it is least at s = 1. w_2 is concave in s, so it is least at
# s = 0 or at s = 1. Both are positive there, so both stay positive, and all data stay active.
for e in (F(1, 3), F(1, 100), F(1, 10**6)):
    m = e - F(5, 6)
    w = [lambda s, m=m: F(4, 3) + m * s**3 - s / 2, lambda s, m=m: F(1, 3) + m * s**3 + s / 2]
    check(f"e = {e}: the formula starts at (e, e)", w[0](F(1)) == e == w[1](F(1)))
    slope = [-3 * m + F(1, 2), -3 * m - F(1, 2)]  # d/dt = -s d/ds, at s = 1
    right = [p - (h[0] + h[1]) * e for h, p in zip(H, q)]
    check("it has the velocity q - H w there", slope == right)
    check(
        "m < 0, and w_1 > 0 at s = 1, w_2 > 0 at s = 0 and 1",
        m < 0 < min(w[0](F(1)), w[1](F(0)), e),
    )

print(f"limit of the flow: (4/3, 1/3), with the loss {loss(limit)}")
print(f"at (2, -1) the loss is {loss((F(2), F(-1)))}")
check("the limit is not a global minimum", loss((F(2), F(-1))) < loss(limit))
print("So small starts with q(w0) > 0 miss the global minimum. Theorem 4.7 fails.")
