"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Theorem 3.3, equation (8), upper half.

For one ReLU neuron w that learns a teacher w* from Gaussian data by gradient flow on half the mean
square, it says: if |w0| > 0 is small enough, |w(t)| < (1 - exp(-t/2)) |w*|. With v = |w|, the angle
phi = pi minus the angle between w and w*, and v* = |w*| = 1, the flow is, by the paper's (6), (7),
  dv/dt = -1/2 (v - (1 - eps)),  1 - eps = (sin phi - phi cos phi) / pi,
  dphi/dt = phi sin phi / (2 pi v).

From phi_0 = 3/4 pi the length passes the bound at t = 1, by about 0.39 |w0|. It is a limit as |w0|
-> 0, and not a strict inequality.
"""

from math import cos, exp, pi, sin


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def flow(v, phi, time, steps=50_000):
    """Runge's method with steps that grow with t like a square, since the start is fast."""

    def velocity(v, phi):
        return -0.5 * (v - (sin(phi) - phi * cos(phi)) / pi), phi * sin(phi) / (2 * pi * v)

    for k in range(steps):
        h = time * ((k + 1) ** 2 - k**2) / steps**2
        a = velocity(v, phi)
        b = velocity(v + h / 2 * a[0], phi + h / 2 * a[1])
        v, phi = v + h * b[0], phi + h * b[1]
    return v, phi


START = 3 * pi / 4  # phi_0
check("0 < phi_0 < pi", 0 < START < pi)
bound = 1 - exp(-0.5)
for small in (0.1, 0.01, 0.001):
    length, phi = flow(small, START, 1.0)
    coarse, _ = flow(small, START, 1.0, 10_000)
    error = abs(length - coarse)
    print(f"|w0| = {small}: |w(1)| = {length:.6f}, the bound is {bound:.6f}, their difference",
          f"{(length - bound) / small:.4f} |w0|, known to {error / small:.0e} |w0|")  # fmt: skip
    check("|w(1)| is above the bound, by far more than the error", length - bound > 100 * error)
print("So the bound is passed, at |w0| as small as one wishes to try. Equation (8) fails.")
