"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Proposition 3.3, rank below d.

The proposition: if H, the sum of x x^T over the data active in a cell P, has rank r < d, then the
quadratic L_P (the loss of the active data, without their ReLU) has minimisers inside P, and they
form an affine set of dimension d - r in P. A cell is the set of weights with the same active data.

Four data in space break it: the minimisers exist, but all of them lie in another cell.
"""


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X = [(1, 1, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1)]
Y = [2, 1, 1, 1]
POINT = (-1, 2, -1)  # a point of the cell P


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def det(a, b, c):
    return dot(a, (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]))


check("A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in X))
check("A2: all labels are positive", min(Y) > 0)
check("A3: x_1, x_3, x_4 span the space", det(X[0], X[2], X[3]) != 0)
check("the point lies on no boundary", all(dot(x, POINT) != 0 for x in X))
active = [i for i, x in enumerate(X) if dot(x, POINT) > 0]
check("in its cell P exactly x_1 and x_2 are active", active == [0, 1])
# x_1 and x_2 are independent, so H = x_1 x_1^T + x_2 x_2^T has rank 2 < 3.
minor = X[0][0] * X[1][1] - X[0][1] * X[1][0]
check("x_1 and x_2 are independent, so that the rank of H is 2", minor != 0)

# L_P = 1/2 (w_1 + w_2 - 2)^2 + 1/2 (w_2 - 1)^2 is 0 exactly where w_2 = 1 and w_1 = 1.
# So its minimisers are the line (1, 1, c), and there x_3.w = w_1 = 1.
line = [(1, 1, c) for c in (-7, 0, 7)]
check("L_P = 0 along (1, 1, c)", all(dot(X[i], w) == Y[i] for w in line for i in active))
check("there x_3.w = 1 > 0, whatever c is", all(dot(X[2], w) == 1 for w in line))
check("in P the datum x_3 is inactive", dot(X[2], POINT) < 0)
print("So no minimiser of L_P lies in P. Proposition 3.3 fails for rank below d.")
