"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Theorem A.3, lower bound.

For two layers v_1 max(0, w.x) and small steps eta << 1/v*^2 from a balanced start |w0| = v_1(0) =
v0 it says
  v* sqrt(kappa / (1 - (1 - kappa (v*/v0)^2) (1 - kappa v*^2 eta)^T)) < |w(T)| = v(T),
with kappa = 1 - eps_0.

We take v* = v0 = 1 and the angle pi/2 between w0 and w*, so kappa = 1/pi. The gradient of half the
mean square over Gaussian data for one neuron u with the teacher u* is, by the paper's Lemma 2.1,
  G(u) = u/2 - (phi u* + sin(phi) |u*| u/|u|) / (2 pi),   phi = pi minus the angle between u and u*.
For two layers u = v_1 w, so the gradients are v_1 G(v_1 w) for w and w.G(v_1 w) for v_1.
"""

from math import atan2, hypot, pi, sin, sqrt


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


KAPPA = 1 / pi  # (sin phi - phi cos phi) / pi at phi = pi/2


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
    bound = sqrt(KAPPA / (1 - (1 - KAPPA) * (1 - KAPPA * eta)))
    w, v1 = step(START, FIRST, eta)
    size = hypot(*w)
    print(f"eta = {eta}: after one step |w| = 1 - {1 - size:.3e}, v_1 = 1 - {1 - v1:.3e},",
          f"the bound is 1 - {1 - bound:.3e}")  # fmt: skip
    check("both are below the lower bound", max(size, v1) < bound)
print("So the lower bound fails at T = 1 for every step size tried. Theorem A.3 fails.")
