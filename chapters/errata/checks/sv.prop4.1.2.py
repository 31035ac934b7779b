"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), end of the proof of Proposition 4.1.

With alpha_j = x_j.q / (x_j.H w0), q and H the sums of y x and of x x^T over the data active at w0,
the proof says: for 0 < alpha <= min_j alpha_j all numbers -grad L(alpha w0).x_j are positive.
At alpha = min_j alpha_j itself one of them is 0. True for alpha < min_j alpha_j.
"""

from fractions import Fraction

X, Y, W0 = Fraction(1), Fraction(1), Fraction(1)


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


check("A1: the datum is not negative, and not 0", X > 0)
check("A2: the label is positive", Y > 0)
check("A3: one datum spans the line", X != 0)
check("the datum is active at w0 = 1", X * W0 > 0)
q, H = Y * X, X * X
alpha = X * q / (X * H * W0)
check("the only quotient, and so the least, is alpha = 1", alpha == 1)
check("0 < alpha = min_j alpha_j", alpha > 0)
value = (q - H * alpha * W0) * X  # -grad L(alpha w0).x, as x is active at alpha w0
print(f"-grad L(alpha w0).x = {value}")
check("it is not positive", not value > 0)
print("So the end of the proof is false at equality.")
