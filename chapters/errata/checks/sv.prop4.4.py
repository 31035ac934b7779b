"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Proposition 4.4.

The proposition (A1, A2, A3): if H(w(t)), the sum of x x^T over the active data, has rank d along
the flow dw/dt = -grad L(w), then all flows from w0 with |w0| small and -grad L(w0) > 0 converge to
one point. Four data in space break it: the flow from 0 touches the boundary of x_1 and turns back.
From e (1, 3, 3) the flow keeps x_1, from e (1, 1, 1) it loses it, however small e > 0 is.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(0, 0, 3), (0, 3, 0), (1, 2, 2), (2, 1, 1)], [179, 1795, 716, 536]
VECTORS = {1: (-4, 1, 1), 3: (0, 1, -1), 7: (1, 2, 2)}  # of H, with the eigenvalues 3, 9, 21


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
det = -X[1][1] * (X[2][0] * X[3][2] - X[2][2] * X[3][0])
check("A3: x_2, x_3, x_4 span the space, so H has full rank while these are active", det != 0)
for k, v in VECTORS.items():  # with all data active dw/dt = q - H w
    Hv = tuple(sum(dot(x, v) * x[j] for x in X) for j in range(3))
    check(f"H has the eigenvector {v} with {3 * k}", Hv == tuple(3 * k * c for c in v))
q = [sum(y * x[j] for x, y in zip(X, Y)) for j in range(3)]
Hu = [13 * sum(x[j] for x in X) for j in range(3)]  # H u or more: x.u <= 13 for both starts
check("-grad L = q - e H u > 0 at both starts, e <= 1", all(p > s for p, s in zip(q, Hu)))

# With s = exp(-3t) in (0, 1] the input x.w is sum_k c_k s^k + e sum_k r_k s^k, k = 0, 1, 3, 7.
c = [{k: -F(dot(q, v), 3 * k * dot(v, v)) * dot(x, v) for k, v in VECTORS.items()} for x in X]
r = {u: [{k: F(dot(u, v), dot(v, v)) * dot(x, v) for k, v in VECTORS.items()} for x in X]
     for u in ((1, 3, 3), (1, 1, 1))}  # fmt: skip
for inputs in c:
    inputs[0] = -sum(inputs.values())  # at e = 0 and s = 1 all inputs are 0
quotient = [F(0)] * 8
for k in range(8):  # divide c of x_1 by (1 - s)(1 - 4s)^2 = 1 - 9 s + 24 s^2 - 16 s^3
    back = [quotient[k - j] if k >= j else 0 for j in (1, 2, 3)]
    quotient[k] = c[0].get(k, F(0)) + 9 * back[0] - 24 * back[1] + 16 * back[2]
check("for e = 0 x_1.w = (1 - s)(1 - 4s)^2 Q(s), Q of degree 4", quotient[5:] == [0, 0, 0])
check("with positive coefficients: it touches 0 at s = 1/4 from above", min(quotient[:5]) > 0)
up, down = r[1, 3, 3], r[1, 1, 1]
check("from e (1, 3, 3) what is added to x_1.w is positive", up[0][1] > 0 <= up[0][3] < up[0][7])
# The other inputs from e (1, 3, 3), e <= 1, are concave in s: it suffices to look at s = 0 and 1.
bends = [c[i][k] + up[i][k] for i in (1, 2, 3) for k in (3, 7)]
check("x_2.w, x_3.w, x_4.w are concave in s", max(bends) <= 0)
ends = [value for i in (1, 2, 3) for value in (c[i][0], sum(up[i].values()))]
check("and positive at s = 0 and at s = 1: all data stay active", min(ends) > 0)
added = sum(v * F(1, 4) ** k for k, v in down[0].items())
check("from e (1, 1, 1) x_1.w would be negative at s = 1/4: x_1 is lost on the way", added < 0)


def flow(w, step=2e-4, steps=30_000):
    for _ in range(steps):  # Heun's method
        ends = []
        for p in (w, None):
            p = p or [a + step * b for a, b in zip(w, ends[0])]
            pulls = [(y - dot(x, p), x) for x, y in zip(X, Y) if dot(x, p) > 0]
            ends.append([sum(h * x[j] for h, x in pulls) for j in range(3)])
        w = [a + step * (b + d) / 2 for a, b, d in zip(w, *ends)]
    return w


limits = [flow([0.1 * a for a in u]) for u in ((1, 3, 3), (1, 1, 1))]
print("limits by small steps from e = 0.1:", *([round(a, 2) for a in w] for w in limits))
away = sum((a - b) ** 2 for a, b in zip(*limits)) ** 0.5
check(f"they are {away:.1f} apart", away > 100)
print("So the limit depends on the direction of the start, however small it is.")
