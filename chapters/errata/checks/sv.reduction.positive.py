"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Section 2 and after Corollary E.2.

The paper reduces data of low rank to coordinates of their span, and so assumes A3 (the data span
the space) without loss of generality, beside A1 (no entry is negative). This needs orthonormal
coordinates of the span in which no entry of the data is negative. Four data have none.
"""

from itertools import product


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


A, B, C, D = (1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1)


def dot(p, q):
    return sum(s * t for s, t in zip(p, q))


check(
    "A1: no entry is negative, no datum is 0", all(min(x) >= 0 and max(x) > 0 for x in (A, B, C, D))
)
plus = [tuple(p + q for p, q in zip(*pair)) for pair in ((A, C), (B, D))]
check("a + c = b + d, so the rank is at most 3", plus[0] == plus[1])
minor = [row[:3] for row in (A, B, C)]
det = (minor[0][0] * (minor[1][1] * minor[2][2] - minor[1][2] * minor[2][1])
       - minor[0][1] * (minor[1][0] * minor[2][2] - minor[1][2] * minor[2][0]))  # fmt: skip
check("a, b, c are independent, so the rank is 3", det != 0)
check("a is orthogonal to c, and b to d", dot(A, C) == 0 == dot(B, D))
check("a.b = a.d = c.b = c.d = 1", dot(A, B) == dot(A, D) == dot(C, B) == dot(C, D) == 1)

# Suppose there are 3 orthonormal coordinates in which no entry is negative; inner products stay.
# a.c = 0 then means that a and c share no coordinate, likewise b and d. With u = a + c = b + d, a
# is u on a set S of coordinates and 0 elsewhere, c is u on the others; b is u on a set T, d on the
# others. So a.b sums u_k^2 over S and T, and is 1, not 0: S and T have a coordinate in common.
# Likewise S and the complement of T, the complement of S and T, and both complements. These four
# sets are disjoint.
found = 0
for S in product((0, 1), repeat=3):
    for T in product((0, 1), repeat=3):
        parts = {(s, t) for s, t in zip(S, T)}
        found += len(parts) == 4
check(
    "of all 64 pairs S, T of subsets of 3 coordinates none leaves all four sets nonempty",
    found == 0,
)
print("So the data have no nonnegative orthonormal coordinates of their span: A3 costs A1.")
