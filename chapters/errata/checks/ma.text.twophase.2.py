"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Section 5.2, the conjecture.

It says that on the gradient flow from a large norm, |w0| > 2 |w*|, the magnitude in general
decreases first and then increases. For one layer, with v = |w|, v* = 1 and phi = pi minus the angle
to the teacher, the flow is, by (6) and (7),
  dv/dt = -1/2 (v - (sin phi - phi cos phi) / pi),    dphi/dt = phi sin phi / (2 pi v).
From phi_0 = 3/4 pi and |w0| = 3 the magnitude only decreases, to |w*|. True instead: for two layers
and more, and for one layer whose angle to the teacher is at least arctan(pi), about 72.3 degrees.
"""

from math import cos, pi, sin


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def velocity(v, phi):
    return -0.5 * (v - (sin(phi) - phi * cos(phi)) / pi), phi * sin(phi) / (2 * pi * v)


LENGTH, ANGLE = 3.0, 3 * pi / 4  # |w0| with |w*| = 1, and phi_0
check("|w0| = 3 > 2 |w*|, and 0 < phi_0 < pi", LENGTH > 2 and 0 < ANGLE < pi)
for steps in (20_000, 200_000):
    v, phi, h, falling, above = LENGTH, ANGLE, 20 / steps, True, True
    for _ in range(steps):  # Runge's method up to t = 20
        a = velocity(v, phi)
        b = velocity(v + h / 2 * a[0], phi + h / 2 * a[1])
        falling, above = falling and b[0] < 0, above and v > 1
        v, phi = v + h * b[0], phi + h * b[1]
    print(f"with {steps} steps: |w(20)| - |w*| = {v - 1:.3e}")
    check("the magnitude falls at every step, and stays above |w*|", falling and above)
# After t = 20 it cannot rise and still end at |w*| from above without falling again.
print("So it never increases. The conjecture fails for one layer near the teacher.")
