"""Phuong, Lampert, The Inductive Bias of ReLU Networks on Orthogonally Separable Data (ICLR 2021),
Section 2.

It says that geometrically, orthogonal separability (inner products positive for equal labels, at
most 0 for different ones) means that positive and negative data lie in opposite orthants. In space
eight data are orthogonally separable, and the five positive ones lie in no orthant of any
orthonormal basis. True instead: on the line and in the plane.
"""

from fractions import Fraction as F
from itertools import combinations


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


POSITIVE = [(3, 3, -1), (3, 2, 2), (3, -1, 3), (3, -3, -1), (3, -1, -3)]
NEGATIVE = [(-9, 1, 0), (-9, 0, 1), (-9, -1, -1)]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


for name, data in (("positive", POSITIVE), ("negative", NEGATIVE)):
    check(
        f"inner products of {name} data are positive",
        all(dot(a, b) > 0 for a in data for b in data),
    )
check(
    "those of different labels are at most 0",
    all(dot(a, b) <= 0 for a in POSITIVE for b in NEGATIVE),
)

# Let the data lie in an orthant of an orthonormal basis: with signs taken into its vectors e_1,
# e_2, e_3, <e_k, x> >= 0 for all positive x. The set of all such e is a cone with finitely many
# edges; each edge is orthogonal to two of the data.
edges = set()
for a, b in combinations(POSITIVE, 2):
    for e in (cross(a, b), cross(b, a)):
        if any(e) and all(dot(e, x) >= 0 for x in POSITIVE):
            edges.add(e)
print(f"the cone has {len(edges)} edges")
# Every e of the cone is a sum of nonnegative multiples of edges r. If r[0] >= g |r| > 0 for all
# edges, then e[0] = sum r[0] >= g sum |r| >= g |e|. So the least e[0]^2 / |e|^2 is that of an edge:
least = min(F(e[0] ** 2, dot(e, e)) for e in edges)
check("the first entry of every edge is positive", all(e[0] > 0 for e in edges))
print(f"every unit e of the cone has e[0]^2 >= {least} = {float(least):.4f}")
# For orthonormal e_1, e_2, e_3 the squares of their first entries sum up to |(1, 0, 0)|^2 = 1.
print(f"three of them would have a sum of at least {float(3 * least):.4f}, but it is 1")
check("3 times the least is more than 1", 3 * least > 1)
print("So no three orthonormal vectors lie in the cone: the positive data lie in no orthant.")
