"""Vardi, Shamir, Srebro, On Margin Maximization in Linear and ReLU Networks (arXiv 2110.02732v4),
Theorem 2.1.

For homogeneous networks under gradient flow with the logistic loss, L = sum_i log(1 + exp(-y_i
Phi(x_i))), and L(theta(t_0)) < 1, "namely, Phi classifies every x_i correctly", it says L(theta(t))
-> 0 and |theta(t)| -> infinity.

One ReLU neuron Phi = v max(0, w.x) breaks it: both data are right and L = 0.895, and then the first
datum pushes the neuron off the second. True instead: if L(theta(t_0)) < log 2. The slope of the
ReLU at 0 may be any constant k in [0, 1], as the paper lets it.
"""

from math import exp, log


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X1, X2 = (1, -4), (0, 1)  # both with the label 1
w, v = [1.5, 0.001], 1.0


def outputs(w, v):
    return [v * max(0.0, x[0] * w[0] + x[1] * w[1]) for x in (X1, X2)]


loss = sum(log(1 + exp(-q)) for q in outputs(w, v))
check(f"L = {loss:.4f} < 1 at the start", loss < 1)
check("both data are right", min(outputs(w, v)) > 0)

# With c_i = 1 / (1 + exp(Phi(x_i))) the flow is dw/dt = v (c_1 x_1 + c_2 x_2), while both are
# active. As long as 1.45 <= w_1 <= 1.6, 0 <= w_2 <= 0.001 and 1 <= v <= 1.1 we have Phi(x_1) <= 1.1
# * 1.6 = 1.76, so
c1 = 1 / (1 + exp(1.76))  # is a lower bound of c_1, and c_2 <= 1/2. So
sinks = (
    -4 * c1 + 0.5
)  # bounds dw_2/dt / v from above, also on the kink w_2 = 0, where it is -4 c_1 + k c_2,
check(f"dw_2/dt <= {sinks:.3f} < 0", sinks < -0.08)
# and with v >= 1, for v grows. So w_2 = 0 is met before
time = 0.001 / -sinks
# By then w_1 and v have moved at speeds of at most 1.1 and 1.6 + 0.001:
check("the bounds on w_1 and v hold up to then", 1.5 + 1.1 * time < 1.6 and 1 + 1.61 * time < 1.1)
# The velocity points to w_2 < 0 there. Below, x_2 is silent, and dw_2/dt = -4 c_1 v < 0 as v > 0: v
# grows as long as x_1 is active, and <w, x_1> grows as x_1 is the only datum that pulls. So w_2 < 0
# from then on.
step = 1e-4
for _ in range(20_000):
    a = [x[0] * w[0] + x[1] * w[1] for x in (X1, X2)]
    c = [1 / (1 + exp(v * h)) if h > 0 else 0.0 for h in a]
    move = [v * sum(p * x[k] for p, x in zip(c, (X1, X2))) for k in (0, 1)]
    v += step * sum(p * h for p, h in zip(c, a))
    w = [w[k] + step * move[k] for k in (0, 1)]
loss = sum(log(1 + exp(-q)) for q in outputs(w, v))
print(
    f"by small steps, at t = 2: w = ({w[0]:.3f}, {w[1]:.3f}), L = {loss:.4f}, log 2 = {log(2):.4f}"
)
check("w_2 < 0: the second datum is lost, and costs log 2 from then on", w[1] < 0 and loss > log(2))
print("""So L stays above log 2 and does not tend to 0. The theorem fails for the logistic loss.""")
