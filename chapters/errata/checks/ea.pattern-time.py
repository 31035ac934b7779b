"""Min, Mallada, Vidal, Early Neuron Alignment in Two-layer ReLU Networks with Small Initialization
(arXiv 2307.12851v2), the time for which a neuron keeps its active data. The proof (Appendix C.2)
says that a neuron with v_j > 0 that is neither in S_+ nor dead cannot keep its set of n_a active
data for longer than 4 / (m_2 sqrt(mu) X_min n_a), with zeta = max(zeta_1, zeta_2) and m_2 =
min(zeta, xi). Two data and one neuron break it, which starts at an angle of 2e-7 from x_-, the
centre of the wrong cone. The maximum does not see that angle; the proof needs the minimum. Section
3.3 and Theorem 1, with their O(), stand.
"""

from fractions import Fraction as F
from math import atan2, log, pi, sqrt, tan


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X1, X2 = (F(1), F(0)), (F(-12, 13), F(5, 13))  # labels 1 and -1
inner = X1[0] * X2[0] + X1[1] * X2[1]
check(
    "both data have length 1, so X_min = X_max = 1",
    X2[0] ** 2 + X2[1] ** 2 == 1 == X1[0] ** 2 + X1[1] ** 2,
)
check("(A1): mu = <y_1 x_1, y_2 x_2> = 12/13 > 0", -inner == F(12, 13))
# The sums of the data of a label are x_1 and x_2. zeta_1: a w within the angle arcsin(mu) of x_1 is
# in S_+, for it takes that angle to come to the line orthogonal to x_2; likewise for x_2: zeta_1 =
# mu^2. xi is the least squared sine between the cone of x_1, -x_2 and a w in neither S_+ nor S_-,
# again mu^2, by the same lines. zeta_2 is the squared sine of the start's angle, about 4e-14. So
# max(zeta_1, zeta_2) = mu^2, and
mu, m_2 = float(-inner), float(inner**2)
t_1 = 16 * log(2) / (m_2 * sqrt(mu))
h, n, log_eps = 1, 2, -200.0  # one neuron, v = |w| = exp(-200)
TAN = 1e-7  # of half the angle from x_2 towards x_1 at which the neuron starts
check("(A2): the neuron does not start along x_2", TAN > 0)
small = log(min(m_2, mu) * sqrt(mu) / (4 * n))
check("(Small), eq (28), first part", log_eps <= small)
check("(Small), eq (28), second part", log_eps <= -64 * n * log(n) / (m_2 * sqrt(mu)))
check("t_1 is at most T = log(1/eps) / (4 n X_max) = 25", t_1 <= -log_eps / (4 * n * h))
# While t <= 25 we have |w|, v <= exp(-200 + 2t), so outputs are below exp(-300), and the loss pulls
# at each datum with exp(-y f) = 1 up to exp(-299). While x_2 alone is active dw/dt = -v x_2: the
# angle psi between w and x_2 grows by dpsi/dt = sin psi (v = |w| stays), so tan(psi / 2) = 1e-7
# exp(t), up to a factor 1 + exp(-290).
# x_2 lies at the angle pi - turn from x_1, so w becomes active on x_1 at pi/2 - turn from x_2.
turn = atan2(X2[1], -X2[0])
check(
    "x_1 is inactive at the start, x_2 active: the neuron is in S_-, not in S_+, not dead",
    tan((pi / 2 - turn) / 2) > TAN,
)
limit = 4 / (m_2 * sqrt(mu))
leaves = log(tan((pi / 2 - turn) / 2) / TAN)  # when x_1 becomes active
print(f"the printed limit is {limit:.2f}; the neuron keeps x_2 alone active until {leaves:.2f}")
check("that is longer, by far more than the error, and before T", limit + 1 < leaves < 200 / 8)
print("So the printed limit is too small. The proof needs the minimum of zeta_1 and zeta_2.")
