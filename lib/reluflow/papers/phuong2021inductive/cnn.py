"""The page `cnn`: Appendix D, Figures 3 and 4, Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import comb, isqrt, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau

from reluflow.approx import approx
from reluflow.falsify import PLANTED, Instance, Statement, given, planted
from reluflow.images import Images, digits, mnist, mnist_folder
from reluflow.ledger import Evidence, Reading, bound, computed, fact, note
from reluflow.papers.phuong2021inductive.networks import Look, of_record, short, slopes
from reluflow.papers.phuong2021inductive.setting import breaks, top_plane
from reluflow.parameters import DEVICE, SECTION
from reluflow.progress import progress
from reluflow.records import Pieces, Shelf

if TYPE_CHECKING:  # torch takes seconds, and only who makes a record needs it
    from torch import Tensor, nn

# --- Inner products of pairs of data: within either of two classes, and across them ---------------

PLUS, MINUS, ACROSS = "both +1", "both -1", "one of each"
"""The three kinds of pair."""
_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Pairs:
    """The inner products <x_i, x_j>, i < j, of all pairs of n data, by kind of pair.

    pairs, violations  how many there are, and how many violate (OS): <= 0 in a class, > 0 across
    square  the mean of |x_i|^2, the unit of what follows; numbers have six digits
    right   of a class: the chance that a random pair of it has a larger product than one across; a
            tie counts as a half
    means   the mean product
    edges, counts  histograms of 80 bins from the least 0.1 % quantile to the largest 99.9 % one
    """

    pairs: Mapping[str, int]
    violations: Mapping[str, int]
    square: float
    right: Mapping[str, float]
    means: Mapping[str, float]
    edges: Sequence[float]
    counts: Mapping[str, list[int]]

    @property
    def number(self) -> int:
        return sum(self.pairs.values())

    @property
    def violating(self) -> int:
        return sum(self.violations.values())

    @property
    def share(self) -> float:
        return self.violating / self.number

    @property
    def chance(self) -> float:
        """The chance that a pair of one class, either with one half, lies to the right."""
        return float(np.mean([self.right[PLUS], self.right[MINUS]]))


def pair_products(X: NDArray, y: NDArray) -> Pairs:
    """All inner products of data X (n, d) with labels y (n,), two of each, in the precision of X:
    in blocks of rows, as 12 665 data have 80 million pairs."""
    order = np.argsort(-y, kind="stable")
    X, split, n = X[order], int((y > 0).sum()), len(y)
    same: list[list[NDArray]] = [[], []]
    across = []
    for group, (first, last) in enumerate(((0, split), (split, n))):
        for at in range(first, last, _ROWS):
            rows = X[at : min(at + _ROWS, last)]
            block = rows @ X[at:last].T
            same[group].append(block[np.triu_indices(len(rows), 1, last - at)])
            if group == 0:
                across.append((rows @ X[split:].T).ravel())
    kinds = (PLUS, MINUS, ACROSS)
    products = dict(zip(kinds, map(np.concatenate, (*same, across)), strict=True))
    for values in products.values():
        values.sort()
    square = float(np.einsum("ij,ij->i", X, X, dtype=float).mean())
    least = {kind: int(np.searchsorted(values, 0.0, "right")) for kind, values in products.items()}
    wins = [np.mean([np.searchsorted(products[ACROSS], products[kind], side)
                     for side in ("left", "right")]) for kind in kinds[:2]]  # fmt: skip
    means = [float(values.mean(dtype=float)) / square for values in products.values()]
    ends = [np.quantile(values, [0.001, 0.999]) / square for values in products.values()]
    edges = min(e[0] for e in ends), max(e[1] for e in ends)
    bins = np.linspace(*edges, 81)
    return Pairs(
        pairs={kind: len(values) for kind, values in products.items()},
        violations=least | {ACROSS: len(products[ACROSS]) - least[ACROSS]},
        square=short([square])[0],
        right=dict(zip(kinds, short(float(w) / len(products[ACROSS]) for w in wins), strict=False)),
        means=dict(zip(kinds, short(means), strict=True)),
        edges=short(edges),
        counts={k: np.histogram(v / square, bins)[0].tolist() for k, v in products.items()},
    )


def left_out(X: NDArray, y: NDArray) -> tuple[int, int]:
    """How many of the data X (n, d) with labels y (n,) have to be left out for the others to be
    orthogonally separable: a lower and an upper bound.

    Data are the nodes of a graph, pairs that violate (OS) its edges, and data that are 0 are left
    out at once. The upper bound takes the datum with the most violations until none is left; the
    lower bound is a maximal set of violating pairs without a common datum.
    """
    keep = np.einsum("ij,ij->i", X, X) > 0.0
    zeros, X, y = int((~keep).sum()), X[keep], y[keep]
    edges = np.empty((len(y), len(y)), bool)
    for at in range(0, len(y), _ROWS):
        edges[at : at + _ROWS] = breaks(X, y, slice(at, at + _ROWS))
    np.fill_diagonal(edges, False)
    free, low = np.ones(len(y), bool), zeros
    for node in np.argsort(edges.sum(axis=1), kind="stable"):  # the fewest violations first
        if free[node] and (found := edges[node] & free).any():
            free[[node, int(found.argmax())]] = False
            low += 1
    degrees, alive, high = edges.sum(axis=1), np.ones(len(y), bool), zeros
    while degrees.any():
        worst = int(degrees.argmax())
        degrees -= edges[worst] & alive
        degrees[worst], alive[worst] = 0, False
        high += 1
    return low, high


# --- Table 1 of Phuong & Lampert 2021: its network, and whether its sizes fit together ------------


class Convolution(NamedTuple):
    """Kernels of size x size, moved by `stride` over an image, `padding` rows added all round."""

    kernels: int
    size: int
    stride: int
    padding: int


CONVOLUTIONS = (
    Convolution(32, 3, 1, 1),
    Convolution(32, 3, 1, 1),
    Convolution(32, 5, 2, 2),
    Convolution(64, 3, 1, 1),
    Convolution(64, 3, 1, 1),
    Convolution(64, 5, 2, 2),
)
"""conv(n, k, s, p): n kernels of k x k pixels, stride s, p rows or columns of padding."""
PRINTED = (3136, 128)
"""What the first fully connected layer takes, and what it gives."""


def sides(side: int) -> list[int]:
    """The rows (and columns) of what each convolution makes of a square image with `side` rows."""
    rows = [side]
    for c in CONVOLUTIONS:
        rows.append((rows[-1] + 2 * c.padding - c.size) // c.stride + 1)
    return rows[1:]


def dense_inputs(side: int) -> int:
    """How many features of a square image with `side` rows the first dense layer takes."""
    return CONVOLUTIONS[-1].kernels * sides(side)[-1] ** 2


def network(side: int) -> nn.Sequential:
    """Table 1's network for grey images of side x side pixels; the paper's have 28 x 28."""
    from torch import nn

    layers, channels = list[nn.Module](), 1
    for c in CONVOLUTIONS:
        layers += [nn.Conv2d(channels, *c), nn.ReLU()]
        channels = c.kernels
    layers += [nn.Flatten(), nn.Linear(dense_inputs(side), PRINTED[1]), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(PRINTED[1], 1))


def weighted(net: nn.Sequential) -> list[nn.Module]:
    return [layer for layer in net if list(layer.parameters())]


def features(net: nn.Sequential, images: Tensor) -> list[Tensor]:
    """f^1(x), ..., f^L(x) of images (m, 1, side, side), what a layer gives before the ReLU: (m,
    kernels, rows, columns) in the convolutions, (m, h) and (m, 1) behind them."""
    found, x = [], images
    for layer in net:
        x = layer(x)
        if list(layer.parameters()):
            found.append(x)
    return found


# --- Appendix D: Table 1's network learns to tell the digits 0 and 1 apart ------------------------
#
# Not printed, and so parameters here: the step size, how pixels are scaled, whether layers have
# biases, and whether the 0.05 is for the biases, too.

FIRST = 7
"""The layer l whose features, and whose weights W_7, the paper looks at."""
BEFORE, AFTER = "before the ReLU", "after the ReLU"
PIXELS = {"0 to 1": (0.0, 1.0), "standard": (0.1307, 0.3081)}
"""What is taken off the levels from 0 to 1, and what they are divided by; "standard" are the mean
and the deviation of all of MNIST's pixels."""


@dataclass(frozen=True)
class Setting:
    """How the network is trained: what the paper prints (epochs, batch, `scale` for the weights of
    the fully connected layers), and its unprinted choices.

    With a `momentum` descent stands in the place of Adam.
    """

    epochs: int = 50
    batch: int = 128
    scale: float = 0.05
    rate: float = 1e-3
    pixels: str = "0 to 1"
    biases: bool = True
    momentum: float | None = None


PAPER = Setting()
READINGS = {
    "taken": PAPER,
    "rate 1e-4": replace(PAPER, rate=1e-4),
    "pixels standardised": replace(PAPER, pixels="standard"),
    "no biases": replace(PAPER, biases=False),
}


@dataclass(frozen=True, eq=False)
class Task:
    """Images of 0 and 1, (n, 1, side, side), and labels (n,): +1 for the digit 1."""

    images: Tensor
    y: NDArray[np.float64]

    def some(self, of_each: int) -> Task:
        """The first `of_each` images of either digit, or all of them if there are fewer."""
        rows = np.concatenate([np.flatnonzero(self.y == sign)[:of_each] for sign in (1.0, -1.0)])
        return Task(self.images[rows], self.y[rows])


def weights(net: nn.Sequential, layer: int) -> NDArray[np.float64]:
    """W_l, a neuron a row."""
    W, _ = weighted(net)[layer - 1].parameters()
    return np.asarray(W.detach().double().cpu())


def started(setting: Setting, side: int, rng: np.random.Generator) -> nn.Sequential:
    """The network with weights and biases uniform in ±1/sqrt(fan-in), as PyTorch draws them; in the
    fully connected layers the weights times `scale`. Biases that a setting does not have are 0 and
    stay so."""
    net = network(side)
    for layer in weighted(net):
        weight, bias = layer.parameters()
        reach, dense = 1.0 / sqrt(weight[0].numel()), weight.ndim == 2
        scales = (setting.scale if dense else 1.0), 1.0
        for part, scale in zip((weight, bias), scales, strict=True):
            drawn = scale * rng.uniform(-reach, reach, part.shape)
            part.data = part.new_tensor(drawn)
        if not setting.biases:
            bias.data.zero_()
            bias.requires_grad_(False)
    return net


def zeros_and_ones(images: Images) -> tuple[NDArray, NDArray]:
    """The images of 0 and 1 in a set: levels (n, pixels) from 0 to 1, and the labels (n,)."""
    rows = images.digit <= 1
    return images.levels[rows] / images.white, np.where(images.digit[rows] == 1, 1.0, -1.0)


def task(images: Images, setting: Setting = PAPER, device: str = "cpu") -> Task:
    """The images of 0 and 1 in a set."""
    import torch

    taken_off, divisor = PIXELS[setting.pixels]
    levels, y = zeros_and_ones(images)
    found = torch.tensor((levels - taken_off) / divisor, dtype=torch.float32, device=device)
    return Task(found.reshape(-1, 1, *images.shape), y)


def steps_of(setting: Setting, n: int) -> int:
    """How many steps an epoch on n images takes."""
    return -(-n // setting.batch)


def train(
    data: Task, setting: Setting, seed: int, looked: Sequence[int], sample: Task
) -> tuple[nn.Sequential, list[dict[str, Any]]]:
    """Train until the last of the steps `looked` (ascending), and look there at a sample's
    features: the network at the end, and every `look`.

    The seed draws the start and the order of the data: every epoch goes through them once, in a new
    order, a batch at a time; the last batch of an epoch is what is left.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    rng, n, images = np.random.default_rng(seed), len(data.y), data.images
    net = started(setting, images.shape[-1], rng).to(images)
    targets = images.new_tensor(data.y > 0)
    moved = [w for w in net.parameters() if w.requires_grad]
    if setting.momentum is None:
        optimiser: torch.optim.Optimizer = torch.optim.Adam(moved, lr=setting.rate, fused=True)
    else:
        optimiser = torch.optim.SGD(moved, lr=setting.rate, momentum=setting.momentum)
    looks, batches, losses = list[dict[str, Any]](), list[NDArray](), list[float]()
    for step in progress(range(looked[-1] + 1), looked[-1] + 1, "steps"):
        if step in looked:
            loss = {"loss": short([float(np.mean(losses))])[0]} if losses else {}
            looks.append({"step": step} | look(net, sample) | loss)
            losses = []
        if step == looked[-1]:
            break
        batches = batches or np.array_split(
            rng.permutation(n), range(setting.batch, n, setting.batch)
        )
        rows = torch.as_tensor(batches.pop(0), device=images.device)
        optimiser.zero_grad()
        value = binary_cross_entropy_with_logits(net(images[rows])[:, 0], targets[rows])
        value.backward()
        optimiser.step()
        losses.append(float(value.detach()))
    return net, looks


def look(net: nn.Sequential, sample: Task) -> dict[str, Any]:
    """Of the features f^7 and rho(f^7) of a sample how many pairs of each kind violate (OS), and
    the twelve largest singular values of W_7."""
    (found,) = layer_features(net, sample, [FIRST])
    pairs = {
        side: {"violations": list(pair_products(X, sample.y).violations.values())}
        for side, X in _sides(found).items()
    }
    return {"singular": short(np.linalg.svdvals(weights(net, FIRST))[:12]), **pairs}


def layer_features(
    net: nn.Sequential, sample: Task, layers: Sequence[int], batch: int = 256
) -> list[NDArray]:
    """f^l(x) of all images of a sample for each of these layers l, an image a row.

    They have the sample's precision up to layer 6; from layer 7 on they are in double, so that the
    sign of an inner product is that of these numbers.
    """
    import torch

    with torch.no_grad():
        parts = [features(net, images) for images in sample.images.split(batch)]
    found = [torch.cat([part[layer - 1].flatten(1).cpu() for part in parts]) for layer in layers]
    return [(X.double() if layer >= FIRST else X).numpy()
            for X, layer in zip(found, layers, strict=True)]  # fmt: skip


# --- The record of a run: what Figures 3 and 4 show of it -----------------------------------------
#
# An epoch on all MNIST images of 0 and 1 takes about 20 s of one core; the names of records on
# scikit-learn's digits, which take half a minute at most, begin with DIGITS.

EARLY = (0, 5, 10, 20, 30, 50, 70)
"""Steps in the first epoch at which there is a look."""
LOOKED, SAMPLE = 500, 1000
"""Images of each digit in a look, and in the last one at layers 1 to 6."""
DIGITS = "digits-"


def looked(setting: Setting, n: int) -> list[int]:
    """The steps at which there is a look: some in the first epoch, and the end of each, or of some
    fifteen where there are more than fifty."""
    each = steps_of(setting, n)
    apart = 1 if setting.epochs <= 50 else setting.epochs // 15
    ends = [each * k for k in range(apart, setting.epochs + 1, apart)]
    return [s for s in EARLY if s < ends[0] and (apart == 1 or s == 0)] + ends


def record_of(name: str, pieces: Pieces, seed: int, device: str = "cpu") -> dict[str, Any]:
    """The run of a name in RECORDED, on MNIST or on `digits`."""
    from reluflow.networks.torch_threads import one_thread

    setting, more = RECORDED[name]
    images = digits() if name.startswith(DIGITS) else mnist(mnist_folder())
    data = task(images, setting, device)
    with one_thread():
        steps = looked(setting, len(data.y))
        net, looks = train(data, setting, seed + more, steps, data.some(LOOKED))
        return {
            "what": "Phuong & Lampert 2021, Appendix D: Table 1's network on images of 0 and 1",
            "setting": asdict(setting),
            "seed": seed + more,
            "looks": looks,
            **summary(net, data),
        }


def summary(net: nn.Sequential, data: Task) -> dict[str, Any]:
    """What a record keeps of a trained network on this data: Figure 4, and the inner products of
    the pixels and of every layer's features on a sample of the data; those of layer 7 on all of
    them, how many the network gets wrong, and how many have to be left out for the features of the
    others to be orthogonally separable."""
    some, first = data.some(SAMPLE), weights(net, FIRST)
    pixels = some.images.flatten(1).cpu().numpy()
    layers = [{BEFORE: asdict(pair_products(pixels, some.y))}]
    layers += [_both(X, some.y) for X in layer_features(net, some, range(1, FIRST + 1))]
    X, outputs = layer_features(net, data, [FIRST, FIRST + 1])
    errors = int((outputs[:, 0] * data.y <= 0.0).sum())
    whole = _both(X, data.y) | {"errors": errors, "left_out": left_out(X, data.y)}
    return {
        "images": len(data.y),
        "neurons": {
            "singular": short(np.linalg.svdvals(first)),
            "plane": [short(row) for row in top_plane(first)],
            "second": short(weights(net, FIRST + 1)[0]),
        },
        "layers": layers,
        "whole": {"train": whole},
    }


def _sides(X: NDArray) -> dict[str, NDArray]:
    return {BEFORE: X, AFTER: np.maximum(X, 0.0)}


def _both(X: NDArray, y: NDArray) -> dict[str, Any]:
    return {side: asdict(pair_products(Z, y)) for side, Z in _sides(X).items()}


RECORDED: Mapping[str, tuple[Setting, int]] = {
    "taken": (PAPER, 0),
    "taken-50-1": (PAPER, 1),
    "rate-1e-4-5-0": (replace(READINGS["rate 1e-4"], epochs=5), 0),
    "pixels-standardised-5-0": (replace(READINGS["pixels standardised"], epochs=5), 0),
    "no-biases-5-0": (replace(READINGS["no biases"], epochs=5), 0),
    "digits-adam": (replace(PAPER, epochs=12), 0),
    "digits-descent": (replace(PAPER, epochs=300, rate=0.1, momentum=0.9), 0),
}
"""The settings of the records, and what is added to the seed."""
SHELF = Shelf(
    "04_orthogonal_separability/cnn", "phuong2021inductive-cnn-", record_of, tuple(RECORDED)
)
PARAMETERS = {"device": DEVICE, "scale": SHELF.parameter, **SECTION}


# --- Three clusters of points, exactly: the three points nearest to which all others lie ----------


def three_medoids(P: NDArray) -> tuple[NDArray, NDArray]:
    r"""The three of the points P (n, d), n >= 3, that minimise $\sum_i \min_k |p_i - p_{m_k}|$: the
    rows (3,) of these medoids, and the cluster (n,) of each point, 0, 1 or 2.

    All triples are tried, so there is no start to draw and no local optimum. Distances count, not
    their squares as in k-means: a few stray points do not get a cluster of their own.
    """
    distance = np.linalg.norm(P[:, None] - P[None], axis=2)
    least, found = np.inf, (0, 1, 2)
    for i, j in combinations(range(len(P) - 1), 2):
        costs = np.minimum(np.minimum(distance[i], distance[j]), distance[j + 1 :]).sum(axis=1)
        k = int(costs.argmin())
        if costs[k] < least:
            least, found = float(costs[k]), (i, j, j + 1 + k)
    rows = np.array(found)
    return rows, distance[rows].argmin(axis=0)


# --- What Figures 3 and 4 show, of a recorded run ------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shown:
    """A recorded run of Appendix D.

    seconds        of one core that it took
    steps, epochs, losses  (k,) of every look; the mean loss of the steps since the one before
    violated       {side of the ReLU: (k,) the share of pairs of a sample that violate (OS)}
    spectra        (k, 12) the largest singular values of W_7 at these steps
    layers         of the pixels, and of each layer 1 to 7 by side of the ReLU, on a sample
    whole          of layer 7 by side, on all images
    errors         how many of these the network gets wrong
    left_out       least and most of them that have to be left out for the features of the others,
                   before the ReLU, to be orthogonally separable
    singular, plane, second  of W_7 at the end all singular values (h,) and the rows in the top two
                   singular directions (h, 2), and the entries of W_8 (h,)
    """

    setting: Setting
    seed: int
    images: int
    seconds: int
    steps: NDArray
    epochs: NDArray
    losses: NDArray
    violated: Mapping[str, NDArray]
    spectra: NDArray
    layers: list[Mapping[str, Pairs]]
    whole: Mapping[str, Pairs]
    errors: int
    left_out: tuple[int, int]
    singular: NDArray
    plane: NDArray
    second: NDArray

    def before(self) -> list[Pairs]:
        """The pixels and the layers 1 to 7, before the ReLU."""
        return [each[BEFORE] for each in self.layers]


def shown(facts: Mapping[str, Any]) -> Shown:
    """A run from what is kept of it."""
    setting: Setting = of_record(Setting, facts["setting"])
    looks, whole = facts["looks"], facts["whole"]["train"]
    steps = np.array([each["step"] for each in looks])
    pairs = {side: [sum(each[side]["violations"]) for each in looks] for side in (BEFORE, AFTER)}
    both = whole[BEFORE]["pairs"]
    sizes = [isqrt(2 * both[kind]) + 1 for kind in (PLUS, MINUS)]  # n from n (n - 1) / 2
    number = comb(sum(min(size, LOOKED) for size in sizes), 2)
    kept = facts["neurons"]
    return Shown(
        setting=setting,
        seed=facts["seed"],
        images=facts["images"],
        seconds=facts.get("cpu_s", 0),
        steps=steps,
        epochs=steps / steps_of(setting, facts["images"]),
        losses=np.array([each.get("loss", np.nan) for each in looks]),
        violated={side: np.array(values) / number for side, values in pairs.items()},
        spectra=np.array([each["singular"] for each in looks]),
        layers=[{side: of_record(Pairs, each[side]) for side in each} for each in facts["layers"]],
        whole={side: of_record(Pairs, whole[side]) for side in (BEFORE, AFTER)},
        errors=whole["errors"],
        left_out=tuple(whole["left_out"]),
        singular=np.array(kept["singular"]),
        plane=np.array(kept["plane"]),
        second=np.array(kept["second"]),
    )


def recorded(name: str, shelf: Shelf = SHELF) -> Shown:
    return shown(shelf.read(name))


# --- Appendix D of Phuong & Lampert 2021, judged on the record of its run at full scale -----------
#
# In a figure a share of pairs below SHOWN is not seen; a singular value is clearly not 0 from CLEAR
# of the largest on; a cluster has a sign where PURE of its neurons have it, and none where at least
# MIXED of them have either.

SHOWN, CLEAR, PURE, MIXED = 0.01, 0.1, 0.9, 0.1
STRONG = 0.71
"""The silhouette from which Kaufman and Rousseeuw (1990) call what was found a strong structure."""
FIVE, MOST = 5, 10
"""So many singular values are "very few, perhaps five or ten"."""
BARS = "the bar, when a fifth of the run was over"
FEWEST = "the bar, when 10 and 7 were seen; at first it was > 2"
EITHER = "the lesser, after the mean of both, asked at first, had hidden a class on the left"
MEDOIDS = f"{BARS}; medoids, after a look: k-means, meant at first, spends a cluster on strays"
RAYS = "the bar, the textbook's, after rays were seen to pass the other bars"
KNOWN = computed("a recorded run at the paper's scale")
READING = Reading(
    taken="Adam's rate is 0.001, pixels go from 0 to 1, all layers have biases, and the 0.05 is "
    "for weights alone; a layer's features are what it gives before the ReLU, as eq (30) defines "
    "them",
    others="the table of readings has the other choices, and the figures both sides of the ReLU",
)
RIGHT = Reading(
    READING.taken,
    f"{READING.others}; at a tenth of the rate pairs of two 1s lie to the left in layers 2 to 5",
)
"""How os.fig3.1 is read."""
CLEARLY = Reading(
    f"{READING.taken}; clearly not 0 means at least a tenth of the largest",
    f"{READING.others}; at a fifth or a twentieth the number is another one",
)
"""How os.fig4a is read."""


def sizes_fit() -> list[Evidence]:
    """os.tab1: the six convolutions leave as many features as the first fully connected layer asks
    for, by the formula for strides and paddings."""
    return [
        fact("features by the formula for strides and paddings", dense_inputs(28), PRINTED[0]),
        note("rows of the images behind each convolution", tuple(sides(28))),
    ]


def same_class_to_the_right(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """os.fig3.1: at every layer the inner products within either class lie to the right of those
    across, in that a pair of that class more likely than not has the larger one. `others` are runs
    from other starts and under other readings, by name."""
    layers = run.before()[1:]
    return [
        note("errors", run.errors),
        *(bound(f"layer {k}: chance that a pair of one class lies to the right, the lesser of two",
                lesser, ">", 0.5, "", digits=2, after=EITHER)
          for k, lesser in enumerate(map(_lesser, layers), start=1)),
        *(note(f"{name}: the least of these", min(map(_lesser, other.before()[1:])), digits=2)
          for name, other in others.items()),
        note(f"layer {FIRST}: chances for the digits 1 and 0",
             tuple(layers[-1].right[kind] for kind in (PLUS, MINUS)), digits=2),
        note("pixels: the same", tuple(run.before()[0].right[kind] for kind in (PLUS, MINUS)),
             digits=2),
    ]  # fmt: skip


def _lesser(pairs: Pairs) -> float:
    return min(pairs.right.values())


def layers_separate(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """os.fig3.2: from layer to layer the classes come apart, the inner products within either class
    generally moving to the right and those across to the left: by Kendall's correlation with the
    layer, the pixels being layer 0, in raw products or else in units of the mean of |f|^2. `others`
    are runs as long from other starts, by name."""
    layers = run.before()
    told = [_told(each) for each in (run, *others.values())]
    return [
        bound("correlation with the layer: chance that a pair of one class lies to the right",
              _kendall([pairs.chance for pairs in layers]), ">", 0.0, "", digits=2),
        bound("units, of the two, in which either class moves right and the pairs across move left",
              _told(run), ">=", 1, ""),
        *(note(f"{unit}: correlation with the layer of the mean for two 0s, two 1s, one of each",
               tuple(_kendall(course) for course in courses_of(layers, raw).values()), digits=2)
          for unit, raw in _UNITS.items()),
        *(note(f"{name}: correlation of the chance, and such units",
               (_kendall([pairs.chance for pairs in other.before()]), _told(other)), digits=2)
          for name, other in others.items()),
        note("starts with such a unit", f"{sum(map(bool, told))} of {len(told)}"),
    ]  # fmt: skip


def other_moves(run: Shown) -> list[Evidence]:
    """How the inner products of `layers_separate` move instead."""
    scaled = courses_of(run.before(), False)
    return [
        bound("raw products, pixels to layer 6: least correlation with the layer of the three "
              "kinds of pair", _least(run), ">", 0.0, "", digits=2),
        bound("in units of the mean of |f|², two 0s: correlation with the layer",
              _kendall(scaled[MINUS]), "<", 0.0, "", digits=2),
    ]  # fmt: skip


_UNITS = {"raw products": True, "units of the mean of |f|²": False}


def courses_of(layers: Sequence[Pairs], raw: bool) -> dict[str, list[float]]:
    """The mean inner product of each kind of pair from layer to layer."""
    return {kind: [pairs.means[kind] * (pairs.square if raw else 1.0) for pairs in layers]
            for kind in (MINUS, PLUS, ACROSS)}  # fmt: skip


def _least(run: Shown) -> float:
    """The least correlation with the layer of the three kinds of raw products, up to layer 6."""
    return min(map(_kendall, courses_of(run.before()[:FIRST], True).values()))


def _told(run: Shown) -> int:
    """In how many units all three kinds of pair move as the paper says."""
    moves = ([_kendall(course) for course in courses_of(run.before(), raw).values()]
             for raw in _UNITS.values())  # fmt: skip
    return sum(np.sign(each).tolist() == [1.0, 1.0, -1.0] for each in moves)


def separable_features(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """os.fig3.3: the features of layer 7 are orthogonally separable: no pair of the images trained
    on violates (OS). `others` are runs as long from other starts, by name."""
    before, after = (run.whole[side] for side in (BEFORE, AFTER))
    return [
        fact("pairs that violate (OS), before the ReLU", before.violating, 0),
        *(fact(f"{name}: these pairs", other.whole[BEFORE].violating, 0)
          for name, other in others.items()),
        note("all pairs", before.number),
        note("violating pairs within a class, and across",
             (before.violating - before.violations[ACROSS], before.violations[ACROSS])),
        note("share after the ReLU", after.share, digits=2),
        note("share across the classes that is exactly 0 after the ReLU",
             1.0 - after.violations[ACROSS] / after.pairs[ACROSS], digits=2),
        note("share after layer 6's ReLU, which is what W_7 is given",
             run.layers[FIRST - 1][AFTER].share, digits=2),
    ]  # fmt: skip


def nearly_separable(run: Shown, others: Mapping[str, Shown]) -> list[Evidence]:
    """What is seen instead of `separable_features`: a figure does not show the violations."""
    share = "share of all pairs that violate (OS), before the ReLU"
    return [
        bound(share, run.whole[BEFORE].share, "<", SHOWN, "", digits=2, after=BARS),
        *(bound(f"{name}: {share}", other.whole[BEFORE].share, "<", SHOWN, "", digits=2,
                after=BARS)
          for name, other in others.items()),
        note("images to leave out so that the others are orthogonally separable: at least, at most",
             run.left_out),
    ]  # fmt: skip


def few_singular_values(
    run: Shown, others: Mapping[str, Shown], synthetic: NDArray
) -> list[Evidence]:
    """os.fig4a: W_7 has five to ten singular values that are clearly not 0; its widest gap among
    the first ten is narrower than the gap behind the second of the `synthetic` ones, those of the
    network of Section 5.1. `others` are runs as long from other starts."""
    s = run.singular
    gaps = s[:MOST] / s[1 : MOST + 1]
    gap = float(synthetic[1] / synthetic[2])
    return [
        bound(f"singular values of at least {CLEAR:g} of the largest", clear(s), "<=", MOST, "",
              after=BARS),
        bound("the same", clear(s), ">=", FIVE, "", after=FEWEST),
        *(note(f"{name}: the same", clear(other.singular)) for name, other in others.items()),
        bound("widest gap among the ten largest, the larger over the smaller", float(gaps.max()),
              "<", gap, "", digits=2),
        note("of at least 0.2, 0.05 and 0.02 of the largest",
             tuple(clear(s, level) for level in (0.2, 0.05, 0.02))),
    ]  # fmt: skip


def clear(singular: NDArray, level: float = CLEAR) -> int:
    """How many singular values are at least `level` of the largest."""
    return int((singular >= level * singular.max()).sum())


def three_clusters(run: Shown, rays: tuple[NDArray, NDArray]) -> list[Evidence]:
    """os.fig4b: the neurons, in the top two singular directions of W_7, form three clusters: one
    near the origin in which signs of W_8 are mixed, and one for either sign. The clustering knows
    the number 3 and the points.

    Neurons on two rays have such parts, too. What tells them from clusters is the silhouette, which
    must be STRONG here and must not be for the `rays` (plane, second) of the network of Section
    5.1.
    """
    groups = clusters(run.plane, run.second)
    mixed, plus, minus = _positive(run.second, groups)
    return [
        bound("silhouette of the three clusters", silhouette(run.plane, groups), ">=", STRONG, "",
              digits=2, after=RAYS),
        bound("the same of the rays of Section 5.1", silhouette(rays[0], clusters(*rays)), "<",
              STRONG, "", digits=2, after=RAYS),
        bound("the far cluster of positive entries of W_8: their share in it",
              plus, ">=", PURE, "", digits=2, after=MEDOIDS),
        bound("the far cluster of negative entries: their share in it",
              1 - minus, ">=", PURE, "", digits=2, after=MEDOIDS),
        bound("the near cluster: share of the rarer sign",
              min(mixed, 1 - mixed), ">=", MIXED, "", digits=2, after=MEDOIDS),
        note("neurons in the near cluster and in the two others",
             tuple(int(rows.sum()) for rows in groups)),
    ]  # fmt: skip


def silhouette(plane: NDArray, groups: Sequence[NDArray]) -> float:
    """How clearly the three `clusters` are apart: the mean silhouette, at most 1."""
    from sklearn.metrics import silhouette_score  # loads in a second, and one picture asks it

    _, plus, minus = groups
    return float(silhouette_score(plane, plus + 2 * minus))


def clusters(plane: NDArray, second: NDArray) -> list[NDArray]:
    """Three clusters of points (h, 2) around medoids: which rows are in the one nearest to the
    origin, and which in either of the others, the one with more positive W_8 first."""
    rows, labels = three_medoids(plane)
    near, *sides = np.argsort(np.linalg.norm(plane[rows], axis=1), kind="stable")
    sides.sort(key=lambda k: (-(second[labels == k] > 0).mean(), k))
    return [labels == k for k in (near, *sides)]


def _positive(second: NDArray, groups: Sequence[NDArray]) -> tuple[float, ...]:
    return tuple(float((second[rows] > 0).mean()) for rows in groups)


def _kendall(values: Sequence[float]) -> float:
    return float(kendalltau(range(len(values)), values).statistic)


# --- Appendix D of Phuong & Lampert 2021 under other readings and from other seeds ----------------


def all_recorded(shelf: Shelf = SHELF) -> dict[str, Shown]:
    """The records on MNIST, by name: the paper's run, its other seed, then the other readings."""
    found = {}
    for run in (recorded(name, shelf) for name in shelf.names if DIGITS not in name):
        long = replace(run.setting, epochs=PAPER.epochs)  # the reading, whatever its epochs
        reading = next(name for name, setting in READINGS.items() if long == setting)
        found[f"{reading}, seed {run.seed}"] = run
    return found


AT = 5
"""Epochs after which all records can be compared."""


def table(runs: Mapping[str, Shown]) -> pd.DataFrame:
    """A row a run. After AT epochs: the share of a sample's pairs that violate (OS), and how many
    singular values of W_7 are clearly not 0. At the end: the share among all pairs, the same after
    the ReLU, images to leave out, the share of the rarer sign of W_8 in the cluster near the
    origin, and in the worse of the two others, and the silhouette of the three."""
    rows = {}
    for name, run in runs.items():
        at = int(np.flatnonzero(run.epochs <= AT)[-1])
        groups = clusters(run.plane, run.second)
        rare = [min(share, 1.0 - share) for share in _positive(run.second, groups)]
        rows[name] = {
            f"at {AT}: violate": approx(run.violated[BEFORE][at], 1),
            "clear": clear(run.spectra[at]),
            "end": run.setting.epochs,
            "violate": approx(run.whole[BEFORE].share, 2),
            "after ReLU": approx(run.whole[AFTER].share, 2),
            "out": run.left_out[1],
            "near": approx(rare[0], 2),
            "far": approx(max(rare[1:]), 2),
            "silhouette": approx(silhouette(run.plane, groups), 2),
        }
    return pd.DataFrame(rows).T


# --- Why Figure 4b of Phuong & Lampert 2021 shows clusters where Figure 1b shows rays: Adam -------

OPTIMISERS = ("Adam", "plain descent")
WIDTH, SCALE, TRAINED, LONG = 128, 0.05, 0.01, 1 / 3
TIGHT, WIDE = 0.1, 0.2
"""Deviations of norms over their mean: below the first are clusters, above the second rays."""
CLUSTERS_FIRST = (
    "both, after four first runs with deviations of 0.02 to 0.04, and of 0.3 to 0.4; that most "
    "starts have to keep them, and not each, after one of some 400 that does not, seed 360"
)
_MOST = 3000


@dataclass(frozen=True, eq=False)
class Neurons:
    """A trained two-layer network: W (h, d), a (h,), and the loss that it has."""

    W: NDArray
    a: NDArray
    loss: float

    def spread(self, sign: float) -> float:
        """The deviation of the norms of the long neurons with a_j of this sign, over their mean."""
        norms = np.linalg.norm(self.W[sign * self.a > 0], axis=1)
        norms = norms[norms > LONG * norms.max()]
        return float(norms.std() / norms.mean())


def drawn(d: int, seed: int) -> tuple[NDArray, NDArray]:
    """The start, W (h, d) and a (1, h): uniform as PyTorch draws it, times SCALE."""
    rng = np.random.default_rng(seed)
    W, a = (SCALE * rng.uniform(-1.0, 1.0, shape) / shape[1] ** 0.5
            for shape in ((WIDTH, d), (1, WIDTH)))  # fmt: skip
    return W, a


def clusters_trained(X: NDArray, y: NDArray, optimiser: str, seed: int) -> Neurons:
    """Train a two-layer network without biases on all data at once until the logistic loss is at
    most TRAINED, from the start of this seed: by Adam with the rate 0.001, or by descent with 0.5.
    """
    weights, left = drawn(X.shape[1], seed), np.inf
    means, squares = ([np.zeros_like(W) for W in weights] for _ in range(2))
    for step in range(1, _MOST + 1):
        gradients, loss = slopes(weights, X, y)
        for W, m, s, slope in zip(weights, means, squares, gradients, strict=True):
            g = slope / len(y)
            if optimiser == "Adam":
                m += 0.1 * (g - m)
                s += 0.001 * (g**2 - s)
                W -= 1e-3 * m / (1 - 0.9**step) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
            else:
                W -= 0.5 * g
        left = float(loss) / len(y)
        if left <= TRAINED:
            break
    return Neurons(weights[0], weights[1][0], left)


Starts = list[tuple[int, dict[str, Neurons]]]


def runs_from(X: NDArray, y: NDArray, seed: int, starts: int) -> Starts:
    """Seeds of `starts` starts, and from each the network of each optimiser."""
    return [(s, {name: clusters_trained(X, y, name, s) for name in OPTIMISERS})
            for s in range(seed, seed + starts)]  # fmt: skip


def trained(found: Starts) -> Starts:
    """Those starts from which both networks are trained; all where there is none."""
    return [
        (seed, runs) for seed, runs in found if max(n.loss for n in runs.values()) <= TRAINED
    ] or found


def _spreads(runs: dict[str, Neurons], name: str) -> list[float]:
    return [runs[name].spread(sign) for sign in (1.0, -1.0)]


def _left(runs: dict[str, Neurons], factor: float = 1.0) -> float:
    """What the bars leave of the largest deviation, times `factor`, and of the smallest."""
    adam, plain = (_spreads(runs, name) for name in OPTIMISERS)
    return min(TIGHT - factor * max(adam), min(plain) - WIDE)


def adam_makes_clusters(X: NDArray, y: NDArray, found: Starts) -> Statement:
    """os.ours.clusters: from most starts Adam makes clusters of the neurons of either sign, plain
    descent rays. The slack, the lower median over the starts of what the bars leave, is positive
    if and only if more than half of the starts keep them."""
    seeds, runs = zip(*trained(found), strict=True)
    W, a = (np.stack(part) for part in zip(*(drawn(X.shape[1], s) for s in seeds), strict=True))

    def start(item: Instance) -> bool:
        size = SCALE / np.sqrt([item["W"].shape[-1], WIDTH])
        within = np.abs(item["W"]).max() <= size[0] and np.abs(item["a"]).max() <= size[1]
        return bool(within and item["W"].shape[-2] == WIDTH)

    def slack(item: Instance) -> float:
        left = sorted(_left(each, planted(item)) for each in item["runs"])
        return left[(len(left) - 1) // 2]

    return Statement(
        "clusters after Adam, rays after descent, from most starts",
        {"starts": lambda _: {"X": X, "y": y, "W": W, "a": a, "runs": runs}},
        slack,
        given(
            "os.ours.clusters",
            data=lambda item: item["X"].shape == (360, 64) and np.ptp(item["X"]) == 1.0,
            start=start,
            training=lambda item: max(
                run.loss for each in item["runs"] for run in each.values()) <= TRAINED,
        ),
        strict=True,
        witness={"runs": runs, PLANTED: 100.0},
    )  # fmt: skip


def in_plane(network: Neurons | Look) -> tuple[NDArray, NDArray]:
    """The rows of W in its top two singular directions (h, 2), and the layer above (h,)."""
    return top_plane(network.W), network.a


def measured(found: Starts) -> list[Evidence]:
    """The deviations and the bars."""
    runs = [each for _, each in trained(found)]
    untrained = len(found) - len(runs)
    adam, plain = ([v for each in runs for v in _spreads(each, name)] for name in OPTIMISERS)
    return [
        note("deviation of norms over their mean: Adam, the largest; plain descent, the smallest",
             (max(adam), min(plain)), digits=2),
        note("the bars for these", (TIGHT, WIDE), digits=None, after=CLUSTERS_FIRST),
        note("starts that keep both", f"{sum(_left(each) > 0.0 for each in runs)} of {len(runs)}"),
                *([note("starts left out, which stay untrained", untrained)] if untrained else []),
    ]  # fmt: skip
