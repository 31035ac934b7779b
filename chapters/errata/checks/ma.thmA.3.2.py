"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Theorem A.3, upper bound.

For two layers v_1 max(0, w.x) and small steps eta << 1/v*^2 from a balanced start |w0| = v_1(0) =
v0 it says
  |w(T)| = v(T) < v* sqrt(1 / (1 - (1 - (v*/v0)^2) (1 - v*^2 eta)^T)).
With v0 = v* the bound is v* = 1.

We take v* = v0 = 1 and the angle pi/2 between w0 and w*, so kappa = 1/pi. The gradient of half the
mean square over Gaussian data for one neuron u with the teacher u* is, by the paper's Lemma 2.1,
  G(u) = u/2 - (phi u* + sin(phi) |u*| u/|u|) / (2 pi),   phi = pi minus the angle between u and u*.
For two layers u = v_1 w, so the gradients are v_1 G(v_1 w) for w and w.G(v_1 w) for v_1.
"""

from math import atan2, hypot, pi, sin


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def step(w, v1, eta):
    """A step of gradient descent; the teacher is u* = (0, 1)."""
    u = (v1 * w[0], v1 * w[1])
    phi = pi - atan2(abs(u[0]), u[1])
    along = 0.5 - sin(phi) / (2 * pi * hypot(*u))
    G = (along * u[0], along * u[1] - phi / (2 * pi))
    new = (w[0] - eta * v1 * G[0], w[1] - eta * v1 * G[1])
    return new, v1 - eta * (w[0] * G[0] + w[1] * G[1])


START, FIRST = (1.0, 0.0), 1.0  # w0 and v_1(0)
check("the start is balanced: |w0| = v_1(0) = v* = 1", hypot(*START) == FIRST == 1.0)
check("w0 is at a right angle to w* = (0, 1)", START[1] == 0.0)
for eta in (1 / 10, 1 / 100, 1 / 1000):
    w, v1 = START, FIRST
    for _ in range(round(20 / eta)):
        w, v1 = step(w, v1, eta)
    size = hypot(*w)
    print(f"eta = {eta}: at T = {round(20 / eta)} |w| = 1 + {size - 1:.3e}, v_1 = 1 - {1 - v1:.3e}")
    check("|w| is above the bound 1, by more than rounding", size > 1 + 1e-9)
print("So descent does not keep |w| = v_1, and |w| passes the bound. Theorem A.3 fails.")
