"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Lemma F.9, the norm.

The lemma (A1, A2, A3, d = 2): along the flow dw/dt = -grad L(w) from a start in the cell where all
data are active, of small enough norm, the number g = grad L(w).w is negative for all t > 0, so that
|w(t)| grows.

Two data break it, from e (1, 0) for every e in (0, 1): the norm passes its limit sqrt(2) and comes
back. True instead: the norm never loses more than the start brought, |w(s)|^2 - |w(t)|^2 <= |w0|^2.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(1, 2), (2, 1)], [3, 3]
check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
check("A3: the data span the plane", X[0][0] * X[1][1] - X[0][1] * X[1][0] != 0)
check("both data are active at e (1, 0), e > 0", all(x[0] > 0 for x in X))
q = [sum(y * x[k] for x, y in zip(X, Y)) for k in (0, 1)]
H = [[sum(x[j] * x[k] for x in X) for k in (0, 1)] for j in (0, 1)]
check("q = (9, 9) and H = [[5, 4], [4, 5]]", q == [9, 9] and H == [[5, 4], [4, 5]])

# With both data active dw/dt = q - H w. H has the eigenvector (1, 1) with 9 and (1, -1) with 1, and
# q = H (1, 1). From e (1, 0), with s = exp(-t) in (0, 1] and m = e/2 - 1 < 0,
#   w = (1 + m s^9 + (e/2) s, 1 + m s^9 - (e/2) s).
# x_1.w = 3 + 3 m s^9 - (e/2) s falls with s, and is e > 0 at s = 1. x_2.w = 3 + 3 m s^9 + (e/2) s
# is concave in s, and is 3 and 2 e at the ends. So both data stay active, and the formula holds
# always.
for e in (F(1, 2), F(1, 100), F(1, 10**6)):
    m = e / 2 - 1

    def w(s, e=e, m=m):
        return 1 + m * s**9 + e / 2 * s, 1 + m * s**9 - e / 2 * s

    check(f"e = {e}: the formula starts at (e, 0), and m < 0", w(F(1)) == (e, 0) and m < 0)
    ends = [x[0] * w(F(1))[0] + x[1] * w(F(1))[1] for x in X]
    check("x_1.w = e and x_2.w = 2 e at the start", ends == [e, 2 * e])
    # |w|^2 - 2 = 4 m s^9 + 2 m^2 s^18 + (e s)^2 / 2 is positive once s^7 < e^2 / 8:
    s = e / 4
    late = w(s)
    check("s = e/4 is so late", s**7 < e**2 / 8)
    check("|w|^2 is larger there than its limit 2", late[0] ** 2 + late[1] ** 2 > 2)
    slope = [p - h[0] * late[0] - h[1] * late[1] for h, p in zip(H, q)]
    growth = slope[0] * late[0] + slope[1] * late[1]  # = -g, half of the derivative of |w|^2
    print(f"     and there d/dt |w|^2 = {float(2 * growth):.3g}")
    check("the norm falls there: g > 0", growth < 0)
print("So g is not negative for all t > 0. The lemma fails.")
