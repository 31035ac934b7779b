"""Vardi, Shamir, Srebro, On Margin Maximization in Linear and ReLU Networks (arXiv 2110.02732v4),
Appendix C.7, the better point in the proof of Theorem 4.4.

For x with the patches (4, 1/sqrt 2) and (-4, 1/sqrt 2), 0 < e < 1/2 and w' = (sqrt e, 1 - e), v' =
(1/sqrt 2 + sqrt e / 2, 1/sqrt 2 - sqrt e / 2) it says Phi(theta'; x) = 1 + 3 e, for the linear and
for the ReLU network Phi = v_1 s(w.patch 1) + v_2 s(w.patch 2). With ReLU the second patch falls
silent for larger e. We take e = 1/4; the theorem asks for small e only, and stands.
"""

from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 40


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


root = D(2).sqrt()
e, w = D(1) / 4, (D(1) / 2, D(3) / 4)
v = (1 / root + D(1) / 4, 1 / root - D(1) / 4)
check("w' = (sqrt e, 1 - e), v' = 1/sqrt 2 +- sqrt e / 2", w[0] ** 2 == e and w[1] == 1 - e)
inputs = (4 * w[0] + w[1] / root, -4 * w[0] + w[1] / root)
check("0 < e < 1/2", 0 < e < D(1) / 2)
print(f"the inputs of the two patches are {inputs[0]:.6f} and {inputs[1]:.6f}")
check("the second is negative, by far more than rounding", inputs[1] < -1)
linear = v[0] * inputs[0] + v[1] * inputs[1]
relu = v[0] * max(D(0), inputs[0]) + v[1] * max(D(0), inputs[1])
print(
    f"Phi is {linear:.6f} for the linear and {relu:.6f} for the ReLU network; 1 + 3 e = {1 + 3 * e}"
)
check("the linear network has 1 + 3 e", abs(linear - 1 - 3 * e) < D("1e-30"))
check("the ReLU network has not", abs(relu - 1 - 3 * e) > D("0.5"))
print("So the formula is false for the ReLU network at e = 1/4.")
