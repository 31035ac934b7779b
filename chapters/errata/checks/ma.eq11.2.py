"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
the conclusion drawn from equation (11).

For a chain of m + 1 layers with v = |w| = v_1 = ... = v_m the balanced flow is, by (9) and (10), v*
= 1,
  dv/dt = -1/2 v^m (v^(m+1) - (1 - eps)),    dphi/dt = v^(m-1) phi sin phi / (2 pi),
  eps = 1 - (sin phi - phi cos phi) / pi.
The paper neglects eps for large m: dv/dt < 0 if and only if v > v*, and so v(t) is monotone.

From v = v* the magnitude falls, whatever m is, since eps > 0; and it returns to v* in the end
(Theorem 3.7). True instead: the depth of the dip tends to 0 as m grows.
"""

from math import cos, pi, sin


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def velocity(v, phi, m):
    kept = (sin(phi) - phi * cos(phi)) / pi
    return -0.5 * v**m * (v ** (m + 1) - kept), v ** (m - 1) * phi * sin(phi) / (2 * pi)


for m in (1, 10, 100, 1000):
    v, phi, least = 1.0, pi / 2, 1.0
    check(f"m = {m}: dv/dt < 0 at v = v*", velocity(v, phi, m)[0] < 0)
    step = 0.2 / (m + 1)
    for _ in range(150 * (m + 1)):
        a = velocity(v, phi, m)
        b = velocity(v + step / 2 * a[0], phi + step / 2 * a[1], m)
        v, phi = v + step * b[0], phi + step * b[1]
        least = min(least, v)
    print(f"     the least |w| is {least:.4f}, and at t = 30 it is {v:.4f}")
    check(
        "it has fallen and risen again by more than nine tenths of the fall",
        v - least > 0.9 * (1 - least) > 0,
    )
print("So the magnitude is not monotone at any of these depths.")
