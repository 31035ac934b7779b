"""Phuong, Lampert, The Inductive Bias of ReLU Networks on Orthogonally Separable Data (ICLR 2021),
Lemma A.4, equation (58).

For a balanced two-layer network f = sum_j a_j max(0, w_j.x) under gradient flow it prints
d|w_j|^2/dt = -sum_i l_i' 1[w_j.x_i > 0] a_j w_j.x_i = da_j^2/dt. A factor 2 is missing, a misprint.
"""

from math import exp, log


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


x, y, w, a = 1.0, 1, 1.0, 1.0


def loss(w, a):
    return log(1 + exp(-y * a * max(0.0, w * x)))


check("the start is balanced: |w| = |a|", abs(w) == abs(a))
h = 1e-5
slope = [(loss(w + h, a) - loss(w - h, a)) / (2 * h), (loss(w, a + h) - loss(w, a - h)) / (2 * h)]
rates = [
    2 * w * -slope[0],
    2 * a * -slope[1],
]  # d(w^2)/dt and d(a^2)/dt, with dw/dt = -dL/dw, da/dt = -dL/da
derivative = -y / (1 + exp(y * a * w * x))  # l'(f)
printed = -derivative * a * w * x
print(f"d|w|^2/dt = {rates[0]:.6f}, d a^2/dt = {rates[1]:.6f}, printed {printed:.6f}")
check("the first two are equal", abs(rates[0] - rates[1]) < 1e-8)
check("they are twice what is printed", abs(rates[0] - 2 * printed) < 1e-8)
print("So (58) lacks a factor 2.")
