"""Charts: coordinates of a network's parameters that stay well scaled along the flow.

A chart turns the flow d theta / dt = -grad L into a flow of its own coordinates z (k,), on the
clock "time" or on the clock "log(1/loss)", whose value is tau = log(1/L). The network is only ever
evaluated at parameters of moderate size; the size itself is a logarithm. (The clock of log tau is
tau's, at tau times the speed: `reluflow.flows.fields` sees to that.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reluflow.errors import InputError
from reluflow.networks.indexed import Network, Patterns, lengths

TIME, LOG_LOSS, LOG_LOG = "time", "log(1/loss)", "log log(1/loss)"
LOG_SIZE = "log |theta|"
Pass = tuple[NDArray, Callable[[NDArray, str], NDArray]]

_FAR = 300.0  # exponents are cut here: no flow gets there, but the trial step of an integrator may
_BALANCED = 1e-9  # relative difference of |v_j| and |w_j| up to which a neuron is balanced


class Chart:
    """Coordinates z (k,) of a network, by themselves z = theta; X is (n, d), patterns fixes the
    units' activity.

    c (n,) are the pulls -dl/dz_i at the outputs, on the clock "log(1/loss)" -d(log L)/dz_i.
    """

    network: Network

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of units of each layer with a ReLU."""
        return self.network.widths

    def coordinates(self, theta: ArrayLike, log_scale: ArrayLike = 0.0) -> NDArray:
        """z (..., k) of the parameters e^log_scale theta, theta (..., p), log_scale (...)."""
        return np.exp(np.asarray(log_scale, float))[..., None] * np.asarray(theta, float)

    def parameters(self, z: NDArray) -> tuple[NDArray, NDArray]:
        """theta (..., p) of moderate size and log_scale (...) of coordinates z (..., k)."""
        return z, np.zeros(z.shape[:-1])

    def outputs(self, z: NDArray, X: NDArray, patterns: Patterns | None = None) -> NDArray:
        """The network's outputs (n,), 0 where they are too small for a float."""
        return self.evaluated(z, X, patterns)[0]

    def cosines(self, z: NDArray, X: NDArray) -> list[NDArray]:
        """The pre-activations (..., n, h_l) of each layer at z (..., k), in units of any scale."""
        return self.network.cosines(self.parameters(z)[0], X)

    def turns(self, z: NDArray, v: NDArray, X: NDArray, patterns: Patterns) -> list[NDArray]:
        """Their rates (n, h_l) at velocity v (k,), each unit's in a unit of its own."""
        theta, rate = (self.parameters(each)[0] for each in (z, v))
        return self.network.rates(theta, X, rate, patterns)[0]

    def evaluated(self, z: NDArray, X: NDArray, patterns: Patterns | None = None) -> Pass:
        """The `outputs`, and dz/dt or dz/dtau (k,) of c and the clock; 0 where nothing pulls."""
        theta, log_scale = self.parameters(z)
        outputs, gradient = self.network.evaluated(theta, X, patterns)
        size = _exp(self.network.degree * log_scale)[..., None]
        return size * outputs, lambda c, clock: self.rate(z, gradient(c), clock)

    def rate(self, z: NDArray, G: NDArray, clock: str) -> NDArray:
        """The velocity for the gradient G (p,) at theta."""
        return _per(G, G @ G) if clock != TIME else G

    def restored(self, z: NDArray) -> NDArray:
        """z with its directions made unit vectors again, from which an integrator drifts."""
        return z

    def reach(self, z: NDArray, v: NDArray) -> float:
        """A stretch of time over which the velocity v (k,) is a fair prediction of the sizes."""
        return np.inf


def _exp(x: NDArray) -> NDArray:
    return np.exp(np.minimum(x, _FAR))


def _per(rate: NDArray, fall: float) -> NDArray:
    """rate / fall: 0 where nothing pulls, infinite where the loss does not fall for all that."""
    if fall > 0.0:
        return rate / fall + 0.0  # a zero has no sign
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate == 0.0, 0.0, rate / np.asarray(fall))


def _reach(log_sizes: NDArray, rates: NDArray) -> float:
    """Half of the way, at this rate, to the first size 1, and never less than one e-folding."""
    rates = np.maximum(rates, 1e-200)
    return float(np.min(np.maximum(-0.5 * log_sizes, 1.0) / rates))


@dataclass(frozen=True)
class Plain(Chart):
    """z = theta."""

    network: Network


@dataclass(frozen=True)
class Polar(Chart):
    """z = (u, rho) with u = theta / |theta| and rho = log |theta|, for a network of degree m.

    With G = grad_u sum_i c_i f(u; x_i), c_i = -dl/dz_i at the outputs e^(m rho) f(u; x_i):

        du/dt = e^((m-2) rho) (G - <G,u> u),    d rho/dt = e^((m-2) rho) <G,u>;

    on the clock tau = log(1/L), c_i = -d(log L)/dz_i and the factor is e^(-m rho) / |G|^2,
    and on the clock rho 1 / <G,u>.
    """

    network: Network

    def coordinates(self, theta: ArrayLike, log_scale: ArrayLike = 0.0) -> NDArray:
        theta = np.asarray(theta, float)
        size = np.linalg.norm(theta, axis=-1)
        if not np.all(size > 0.0):
            raise InputError("theta = 0 has no direction.")
        rho = np.log(size) + np.asarray(log_scale, float)
        return np.concatenate([theta / size[..., None], rho[..., None]], axis=-1)

    def parameters(self, z: NDArray) -> tuple[NDArray, NDArray]:
        return z[..., :-1], z[..., -1]

    def rate(self, z: NDArray, G: NDArray, clock: str) -> NDArray:
        u, rho, m = z[:-1], z[-1], self.network.degree
        along = (G @ u) / (u @ u)
        if clock == LOG_SIZE:
            return np.append(G / along - u, 1.0)
        rate = np.concatenate([G - along * u, along[None]])
        if clock != TIME:
            return _exp(-m * rho) * _per(rate, G @ G)
        return _exp((m - 2) * rho) * rate

    def sized(self, z: NDArray) -> tuple[NDArray, NDArray]:
        """By how much the outputs are larger than at u, (...), and the derivative (..., p) in u of
        what they change with rho."""
        return _exp(self.network.degree * z[..., -1]), z[..., :-1]

    def turned(
        self, z: NDArray, X: NDArray, c: NDArray, bend: NDArray, patterns: Patterns
    ) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
        """v = (G - <G,u> u, <G,u>) (..., p + 1) and its derivative (..., p + 1, p + 1) at states z
        (..., p + 1); G, its derivative (..., p, p + 1), and that of log(1/L) (..., p + 1).

        c and bend (..., n) are the derivatives of the loss by the outputs, over the loss.
        """
        u, (size, radial) = z[..., :-1], self.sized(z)
        p, each = self.network.size, c[..., None, :]
        at = u if u.ndim == 1 else u[:, None]
        H, T = self.network.turned(at, X, each, np.eye(p), patterns)
        moved = size[..., None, None] * np.concatenate([T, radial[..., None, :] @ T], axis=-2)
        G, d_log = np.vecdot(T, each), np.vecdot(moved, each)
        dG = G[..., None] * d_log[..., None, :] - (T * bend[..., None, :]) @ moved.mT
        dG[..., :-1] += H
        square = np.vecdot(u, u)[..., None]
        along = np.vecdot(G, u)[..., None] / square
        d_along = (u[..., None, :] @ dG)[..., 0, :] / square
        d_along[..., :-1] += (G - 2.0 * along * u) / square
        turn = dG - u[..., None] * d_along[..., None, :]
        turn[..., :-1] -= along[..., None] * np.eye(p)
        v = np.concatenate([G - along * u, along], axis=-1)
        return v, np.concatenate([turn, d_along[..., None, :]], axis=-2), G, dG, d_log

    def linearised(
        self, z: NDArray, X: NDArray, c: NDArray, bend: NDArray, clock: str, patterns: Patterns
    ) -> tuple[NDArray, NDArray, NDArray]:
        """As `Neurons.linearised`, on the clocks log(1/loss) and log |theta|."""
        v, J, G, dG, d_log = self.turned(z, X, c, bend, patterns)
        if clock == LOG_SIZE:
            return v / v[-1], (J - np.outer(v / v[-1], J[-1])) / v[-1], d_log
        square = G @ G
        d_log_speed, speed = -2.0 * (G @ dG) / square, _exp(-self.network.degree * z[-1]) / square
        d_log_speed[-1] -= self.network.degree
        return speed * v, speed * (J + np.outer(v, d_log_speed)), d_log

    def restored(self, z: NDArray) -> NDArray:
        return np.append(z[:-1] / np.linalg.norm(z[:-1]), z[-1])

    def reach(self, z: NDArray, v: NDArray) -> float:
        return _reach(z[-1:], v[-1:])


@dataclass(frozen=True)
class Frozen(Polar):
    """The polar chart of an exponential loss very late, on the clock rho = log |theta|: the size of
    the outputs, e^(m rho), is held fixed at `factor`.

    In direction the flow is du/ds = (G - <G,u> u) / <G,u>, where G = sum_i c_i y_i grad f(u; x_i)
    and c = softmax(-e^(m s) y f(u)). Late on, the pulls c balance what they have to at any large
    factor before y f(u): holding it fixed moves u by about its inverse, and leaves a flow whose
    stiffness does not grow, and whose sums do not drown in rounding.
    """

    factor: float

    def evaluated(self, z: NDArray, X: NDArray, patterns: Patterns | None = None) -> Pass:
        outputs, gradient = self.network.evaluated(z[..., :-1], X, patterns)
        return self.factor * outputs, lambda c, clock: self.rate(z, gradient(c), clock)

    def sized(self, z: NDArray) -> tuple[NDArray, NDArray]:
        return np.full(z.shape[:-1], self.factor), 0.0 * z[..., :-1]


@dataclass(frozen=True)
class Neurons(Chart):
    """Two layers of balanced ReLU neurons, f(x) = sum_j v_j s(w_j.x), |v_j| = |w_j|.

    s(p) = max(p, `leak` p). z holds the unit directions u_j (h, d), row by row, and R_j = log |w_j|
    (h,); the signs s_j of v_j never change. With g_j = sum_i s'(u_j.x_i) c_i x_i,

        du_j/dt = s_j (g_j - <g_j,u_j> u_j),    dR_j/dt = s_j <g_j,u_j>,

    in which no scale occurs. On the clock tau = log(1/L) both are divided by
    sum_j e^(2 R_j) (|g_j|^2 + <g_j,u_j>^2). Raises InputError for a leak outside [0, 1].
    """

    signs: NDArray
    d: int
    leak: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.leak <= 1.0:
            raise InputError(f"leak must lie in [0, 1], not {self.leak:g}.")

    @property
    def widths(self) -> tuple[int, ...]:
        return (len(self.signs),)

    def slopes(self, active: NDArray) -> NDArray:
        """s' (n, h) of units that are `active` (n, h): 1 above 0, 0 below, or between."""
        return self.leak + (1.0 - self.leak) * active if self.leak else active

    def along(self, directions: ArrayLike, log_norms: ArrayLike) -> NDArray:
        """z of neurons along `directions` (h, d), of norm e^log_norms (h,) or a number."""
        U = np.asarray(directions, float)
        if U.shape != (len(self.signs), self.d):
            raise InputError(f"directions has shape {U.shape}, not {(len(self.signs), self.d)}.")
        sizes = np.linalg.norm(U, axis=1)
        if not np.all(sizes > 0.0):
            raise InputError(f"neuron {int(np.argmin(sizes))} is 0 and has no direction.")
        R = np.broadcast_to(np.asarray(log_norms, float), sizes.shape)
        return np.concatenate([(U / sizes[:, None]).ravel(), R])

    def coordinates(self, theta: ArrayLike, log_scale: ArrayLike = 0.0) -> NDArray:
        """z of the parameters of `networks.indexed.fully_connected([d, h])`, one theta (p,).

        Raises InputError for neurons that are not balanced, or whose v_j has the other sign.
        """
        theta, h = np.asarray(theta, float), len(self.signs)
        W, v = theta[: h * self.d].reshape(h, self.d), theta[h * self.d :]
        sizes = np.linalg.norm(W, axis=1)
        off = np.abs(v - self.signs * sizes) > _BALANCED * sizes
        if off.any():
            raise InputError(f"neuron {int(np.argmax(off))} is not balanced, v = s |w|.")
        return self.along(W, np.log(np.where(sizes > 0.0, sizes, 1.0)) + log_scale)

    def parameters(self, z: NDArray) -> tuple[NDArray, NDArray]:
        U, R = self.split(z)
        scale = R.max(axis=-1)
        sizes = np.exp(R - scale[..., None])
        W = (sizes[..., None] * U).reshape(*z.shape[:-1], -1)
        return np.concatenate([W, self.signs * sizes], axis=-1), scale

    def split(self, z: NDArray) -> tuple[NDArray, NDArray]:
        """Directions (..., h, d) and log norms (..., h) of coordinates z (..., k)."""
        h = len(self.signs)
        return z[..., : h * self.d].reshape(*z.shape[:-1], h, self.d), z[..., h * self.d :]

    def evaluated(self, z: NDArray, X: NDArray, patterns: Patterns | None = None) -> Pass:
        U, R = self.split(z)
        before, sizes = X @ U.T, _exp(2.0 * R)
        slopes = self.slopes(before > 0.0 if patterns is None else patterns[0])

        def velocity(c: NDArray, clock: str) -> NDArray:
            g = (slopes * c[:, None]).T @ X
            along = np.vecdot(g, U) / np.vecdot(U, U)
            turn = self.signs[:, None] * (g - along[:, None] * U)
            rate = np.concatenate([turn.ravel(), self.signs * along])
            return _per(rate, sizes @ (np.vecdot(g, g) + along**2)) if clock != TIME else rate

        return (before * slopes) @ (self.signs * sizes), velocity

    def cosines(self, z: NDArray, X: NDArray) -> list[NDArray]:
        U = self.split(z)[0]
        size = lengths(X)[:, None] * lengths(U)[..., None, :]
        return [X @ U.swapaxes(-1, -2) / np.where(size > 0.0, size, 1.0)]

    def turns(self, z: NDArray, v: NDArray, X: NDArray, patterns: Patterns) -> list[NDArray]:
        return [X @ self.split(v)[0].T]

    def linearised(
        self, z: NDArray, X: NDArray, c: NDArray, bend: NDArray, clock: str, patterns: Patterns,
        bends: NDArray | None = None, moves: NDArray | float = 1.0,
    ) -> tuple[NDArray, NDArray, NDArray]:  # fmt: skip
        """The velocity (k,), its derivative (k, k), the activity held fixed, and that of c.f (k,).

        bend (n,) is d^2 L/df^2, over L on the clock log(1/loss); `bends` (n, h) the derivatives of
        the slopes s' by the cosines of data and neurons, where these are not constant; `moves` (n,)
        is 0 at data whose c is no derivative of L, but a constant times L.
        """
        U, R = self.split(z)
        (h, d), k, slopes, sizes = U.shape, len(z), self.slopes(patterns[0]), _exp(2.0 * R)
        # The derivatives of f: of a neuron's pre-activation they are the data that it passes on.
        data, before = slopes[:, :, None] * X[:, None], X @ U.T
        moved, rows = data, data.reshape(len(X), h * d)
        if bends is not None:
            size = lengths(X)[:, None]
            around = (X / size)[:, None] - (before / size)[..., None] * U
            turned = bends[..., None] * around
            moved = data + before[..., None] * turned
        ends = self.signs * sizes
        by_U = moved.reshape(len(X), h * d) * np.repeat(ends, d)
        outputs = np.hstack([by_U, 2.0 * slopes * before * ends])
        d_log = (c * moves) @ outputs
        pulled = (0.0 if clock == TIME else np.outer(c * moves, d_log)) - bend[:, None] * outputs
        g, dg = (c @ rows).reshape(h, d), (rows.T @ pulled).reshape(h, d, k)
        if bends is not None:
            for j, own in enumerate(np.einsum("id,ije->jde", c[:, None] * X, turned)):
                dg[j, :, j * d : (j + 1) * d] += own
        square = np.vecdot(U, U)
        along, dU = np.vecdot(g, U) / square, np.eye(h * d, k).reshape(h, d, k)
        d_along = (U[:, None] @ dg + (g - 2.0 * along[:, None] * U)[:, None] @ dU)[:, 0]
        d_along /= square[:, None]
        turn = dg - U[:, :, None] * d_along[:, None] - along[:, None, None] * dU
        turn *= self.signs[:, None, None]
        rate = np.append(self.signs[:, None] * (g - along[:, None] * U), self.signs * along)
        matrix = np.vstack([turn.reshape(h * d, k), self.signs[:, None] * d_along])
        if clock != TIME:
            parts = sizes * (np.vecdot(g, g) + along**2)
            d_fall = 2.0 * ((sizes[:, None] * g).ravel() @ dg.reshape(h * d, k))
            d_fall += 2.0 * (sizes * along) @ d_along
            d_fall[h * d :] += 2.0 * parts
            rate = rate / parts.sum()
            matrix = (matrix - np.outer(rate, d_fall)) / parts.sum()
        return rate, matrix, d_log

    def restored(self, z: NDArray) -> NDArray:
        U, R = self.split(z)
        return np.concatenate([(U / lengths(U)[:, None]).ravel(), R])

    def reach(self, z: NDArray, v: NDArray) -> float:
        return _reach(self.split(z)[1], self.split(v)[1])
