"""Lee, Sim, Ye, Magnitude and Angle Dynamics in Training Single ReLU Neurons (arXiv 2209.13394),
Theorem 3.8, upper bound, as printed.

For m >= 2 let F(u; eps) = u^(1-m) / ((m-1) v*^(m+1) (1-eps)) 2F1(1, (1-m)/(m+1); 2/(m+1); z) with z
= u^(m+1) / ((1-eps) v*^(m+1)), and let u(t; eps) solve F(u; eps) - F(v0; eps_0) = -t/2. It says
that the balanced flow has v(t) < u(t; 0). A misprint: the constant has to be F(v0; eps), here F(v0;
0).

We take m = 3, v* = 1, v0 = 1/2, phi_0 = pi/2. Since (-1/2)_k / (1/2)_k = -1/(2k-1), the series sums
up to F(u; eps) = (1 - s artanh s) / (2 (1 - eps) u^2) with s = u^2 / sqrt(1 - eps).
"""

from math import atanh, cos, pi, sin, sqrt


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


def F(u, kept):
    """F(u; eps) with kept = 1 - eps."""
    s = u**2 / sqrt(kept)
    return (1 - s * atanh(s)) / (2 * kept * u**2)


def flow(v, phi, steps):
    """v(1) by (9) and (10), with Runge's method."""

    def velocity(v, phi):
        kept = (sin(phi) - phi * cos(phi)) / pi
        return -0.5 * v**3 * (v**4 - kept), v**2 * phi * sin(phi) / (2 * pi)

    for _ in range(steps):
        a = velocity(v, phi)
        b = velocity(v + a[0] / 2 / steps, phi + a[1] / 2 / steps)
        v, phi = v + b[0] / steps, phi + b[1] / steps
    return v


def solved(constant):
    """The u in (0, 1) with F(u; 0) = constant - 1/2, by bisection: F(.; 0) falls."""
    low, high = 1e-3, 1 - 1e-12
    for _ in range(200):
        u = (low + high) / 2
        low, high = (u, high) if F(u, 1.0) > constant - 0.5 else (low, u)
    return u


v0, kept0 = 0.5, 1 / pi
check("1 - eps_0 = 1/pi at phi_0 = pi/2", abs((sin(pi / 2) - 0) / pi - kept0) < 1e-15)
check("v0^4 < (1 - eps_0) v*^4, so all terms are real", v0**4 < kept0)
grid = [F(k / 1000, 1.0) for k in range(1, 1000)]
check("F(u; 0) falls with u", all(a > b for a, b in zip(grid, grid[1:])))
series = 1 - sum((v0**4 / kept0) ** k / (2 * k - 1) for k in range(1, 400))
check("the closed form is the series", abs(series / (2 * kept0 * v0**2) - F(v0, kept0)) < 1e-9)
v, coarse = flow(v0, pi / 2, 20_000), flow(v0, pi / 2, 2_000)
printed, mended = solved(F(v0, kept0)), solved(F(v0, 1.0))
print(
    f"v(1) = {v:.6f} to {abs(v - coarse):.0e}; printed u(1; 0) = {printed:.6f}; mended {mended:.6f}"
)
check("the flow is above the printed bound", v > printed + 0.1)
check("and below the mended one", v < mended)
print("So the bound as printed fails.")
