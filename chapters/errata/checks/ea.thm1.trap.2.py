"""Min, Mallada, Vidal, Early Neuron Alignment in Two-layer ReLU Networks with Small Initialization
(arXiv 2307.12851v2), Lemma 12, first statement.

It says: along any solution of the flow, if w_j(t_1) is in S_dead (<x_i, w_j> <= 0 for all data), it
is there at all later times. For two data, one neuron and the exponential loss the solution of the
paper's own equation (47) leaves S_dead, at once or, where t_1 > 0 is meant, after a rest until t_1.
True instead: for regular solutions (Definition 1), and Theorem 1 asks for these.
"""

from math import cosh, exp, sinh


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [(1, 0), (-1, 0)], [1, -1]
check("(A1): y_1 y_2 <x_1, x_2> = 1 > 0", Y[0] * Y[1] * (X[0][0] * X[1][0] + X[0][1] * X[1][1]) > 0)


def state(tau):
    """w and v of the solution w = (sinh tau, 1), v = cosh tau."""
    return (sinh(tau), 1.0), cosh(tau)


w, v = state(0.0)
inputs = [x[0] * w[0] + x[1] * w[1] for x in X]
check("(Init): v = |w| at tau = 0, where w = (0, 1)", v == 1 == w[0] ** 2 + w[1] ** 2)
check("w(0) is in S_dead: <x_i, w> <= 0 for both data", max(inputs) <= 0)
# No datum is active there, so that w may rest until any time. Count t from the end of the rest.
# With d tau/dt = exp(-sinh tau cosh tau), tau(0) = 0, tau grows. For tau > 0 only x_1 is active,
# the output on it is f = v <w, x_1> = sinh tau cosh tau, and the flow is dw/dt = v exp(-f) x_1,
# dv/dt = exp(-f) <w, x_1>.
h = 1e-6
for tau in (0.01, 0.3, 1.0, 2.0):
    (w, v), rate = state(tau), exp(-sinh(tau) * cosh(tau))
    check(f"tau = {tau}: x_1 is active and x_2 is not", X[0][0] * w[0] > 0 >= X[1][0] * w[0])
    speed = [
        (sinh(tau + h) - sinh(tau - h)) / (2 * h) * rate,
        (cosh(tau + h) - cosh(tau - h)) / (2 * h) * rate,
    ]
    check("dw_1/dt = v exp(-f)", abs(speed[0] - v * exp(-v * w[0])) < 1e-8)
    check("dv/dt = exp(-f) w_1", abs(speed[1] - exp(-v * w[0]) * w[0]) < 1e-8)
tau = 0.0
for _ in range(10_000):
    tau += 1e-4 * exp(-sinh(tau) * cosh(tau))
print(f"at t = 1 <x_1, w> = {sinh(tau):.3f}")
check("the neuron has left S_dead", sinh(tau) > 0.5)
print("So not every solution stays in S_dead. The lemma needs regular ones.")
