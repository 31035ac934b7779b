"""Vardi, Shamir, Srebro, On Margin Maximization in Linear and ReLU Networks (arXiv 2110.02732v4),
Theorem 2.1, with the gradient flow of its Section 2.

The paper lets the slope of the ReLU at 0 be any constant in [0, 1] and says that this does not
matter. With L < 1 the flow is to converge in direction to a KKT point of Problem (2): to minimise
|theta|^2 / 2 subject to y_i Phi(theta; x_i) >= 1, in Clarke's sense. Take a filter w in the plane
on four patches,
  Phi = a [s(w.p_1) + s(w.p_3)] + b [s(w.p_2) + s(w.p_4)],  s(z) = max(0, z), slope 0 at z = 0,
datum A: p = (1,0), (-1,0), (0,1), (0,0), label 1;  datum B: p = (0,0), (0,0), (0,0), (0,1), label
-1, the exponential loss, and the start w = (0, 2), a = 1, b = -1. True instead: for Clarke's
subdifferential.
"""

from fractions import Fraction as F
from math import exp


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def s(z):
    return max(0, z)


def outputs(w, a, b):
    """Phi at A and at B."""
    return a * (s(w[0]) + s(w[1])) + b * s(-w[0]), b * s(w[1])


A, B = outputs((0, 2), 1, -1)
check("both data are right at the start: Phi(A) > 0 > Phi(B)", A > 0 > B)
check("L = exp(-Phi(A)) + exp(Phi(B)) < 1", exp(-A) + exp(B) < 1)
# On w_1 = 0 the inputs w_1 and -w_1 of A are 0, where the slope is 0: dw_1/dt = 0, and w_1 = 0
# stays. With c_A = exp(-Phi(A)), c_B = exp(Phi(B)) the rest is da/dt = c_A w_2, db/dt = -c_B w_2,
# dw_2/dt = c_A a - c_B b. With b = -a we have Phi(B) = -Phi(A), so c_A = c_B, and b = -a stays. So
# the flow keeps w_1 = 0, b = -a < 0, and a, w_2 grow. (This solves the equation at every time; the
# theorem speaks of any flow.)
for w2, a in ((F(2), F(1)), (F(7, 2), F(5, 3)), (F(100), F(1, 9))):
    check(f"w = (0, {w2}), b = -a = {-a}: Phi(B) = -Phi(A)", sum(outputs((0, w2), a, -a)) == 0)

# So a limit of the direction has w_1 = 0 and b = -a. Is it that of a KKT point? Near w_1 = 0, with
# b = -a and w_2 > 0, a s(w_1) + b s(-w_1) = a w_1 on both sides: Phi(A) is differentiable there,
# with the slope a.
for small in (F(1, 100), F(-1, 100)):
    difference = outputs((small, F(2)), F(1), F(-1))[0] - outputs((0, F(2)), F(1), F(-1))[0]
    check(f"Phi(A) changes by a w_1 for w_1 = {small}", difference == small)
# theta = l_A grad Phi(A) - l_B grad Phi(B) asks in the entry a: a = l_A w_2, and in the entry w_1:
# 0 = l_A a.
w2, a = F(2), F(1)
multiplier = a / w2
print(f"for w_2 = {w2}, a = {a}: the entry a needs l_A = {multiplier}, the entry w_1 needs l_A = 0")
check("both cannot be, and for other a, w_2 > 0 it is the same: l_A = a / w_2 > 0", multiplier > 0)
check(
    "a = 0 or w_2 = 0 is no way out: the margins would be 0",
    outputs((0, 1), 0, 0) == (0, 0) == outputs((0, 0), 1, -1),
)
print("So this flow ends in the direction of no KKT point. The slope at the kink matters.")
