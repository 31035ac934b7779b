"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Theorem 3.4, as printed.

The theorem: under A2 (positive labels) the least loss of the ReLU neuron max(0, w.x) is smaller
than the least loss of the linear neuron w.x on the same data. The proof ends with "equal or
smaller", which is true. One datum x = 1 with the label 1 has equality.
"""

from fractions import Fraction

X, Y, W = Fraction(1), Fraction(1), Fraction(1)


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


check("A1: the datum is not negative, and not 0", X > 0)
check("A2: the label is positive", Y > 0)
check("A3: one datum spans the line", X != 0)
relu = (max(Fraction(0), W * X) - Y) ** 2 / 2
linear = (W * X - Y) ** 2 / 2
check("at w = 1 the ReLU neuron has the loss 0, and no loss is smaller", relu == 0)
check("at w = 1 the linear neuron has the loss 0, and no loss is smaller", linear == 0)
print("So the two least losses are equal, and not one smaller than the other.")
