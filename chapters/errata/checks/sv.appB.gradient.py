"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Appendix B, the gradient as printed.

For a layer of ReLU neurons w_j with the loss 1/2 sum_i sum_j (max(0, w_j.x_i) - (y_i)_j)^2 it
prints dL/dw_j = sum_i (max(0, w_j.x_i) - (y_i)_j) x_i, over all data. What is missing is the
indicator of w_j.x_i > 0, a misprint: equation (2) of the paper has it. One datum and one neuron
show the difference.
"""

from fractions import Fraction

X, Y, W = Fraction(1), Fraction(1), Fraction(-1)


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def loss(w):
    return (max(Fraction(0), w * X) - Y) ** 2 / 2


check("A1: the datum is not negative, and not 0", X > 0)
check("A2: the label is positive", Y > 0)
check("A3: one datum spans the line", X != 0)
printed = (max(Fraction(0), W * X) - Y) * X
h = Fraction(1, 1000)
quotient = (loss(W + h) - loss(W - h)) / (2 * h)
check("the loss is the same at w = -1 + h, -1 and -1 - h", loss(W + h) == loss(W) == loss(W - h))
print(f"the derivative of L at w = -1 is {quotient}, the printed formula gives {printed}")
check("they differ", printed != quotient)
print("So the printed gradient is wrong for a neuron that is off.")
