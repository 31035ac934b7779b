"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Proposition B.2.

The proposition: if the law of x has mean 0 and E[x x^T] has full rank, then w* is the only global
minimiser of L(w) = 1/2 E (max(0, w.x) - max(0, w*.x))^2, whatever w* is.

Three points in the plane break it: a whole segment of weights has loss 0. True instead, for
example: if moreover x and -x have the same law.
"""

from fractions import Fraction as F


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


POINTS, TEACHER = [(1, 0), (0, 1), (-1, -1)], (F(-1), F(-1))  # each with probability 1/3


def outputs(w):
    return [max(F(0), x[0] * w[0] + x[1] * w[1]) for x in POINTS]


def loss(w):
    return sum((a - b) ** 2 for a, b in zip(outputs(w), outputs(TEACHER))) / 6


check("the mean is 0", [sum(x[k] for x in POINTS) for k in (0, 1)] == [0, 0])
a, b, c = (F(sum(x[j] * x[k] for x in POINTS), 3) for j, k in ((0, 0), (0, 1), (1, 1)))
check("E[x x^T] has full rank", a * c - b * b != 0)
# For 0 <= s <= 2 the weights (s - 2, -s) are not positive, so the first two points give 0, and the
# third gives 2, as the teacher does. What is checked is a hundred of them.
segment = [(s - 2, -s) for s in (F(k, 50) for k in range(101))]
check(
    "the loss is 0 at 101 points of the segment from (-2, 0) to (0, -2)",
    not any(map(loss, segment)),
)
check("only one of them is w*", segment.count(TEACHER) == 1)
print("So w* is not the only minimiser. The proposition fails.")
