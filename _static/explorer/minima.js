// All local minima in the plane, decided in whole numbers of any length: data are read as the
// decimals that they are written as, or as the doubles that they are where these are long. The twin
// of reluflow.papers.lee2022support.landscape.local_minima, for d = 2.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const SAME = 1e-10; // losses closer than this share of 1/2 |y|^2 have the same rank
  const MOST_DIGITS = 2n ** 20n;
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const cross = (u, v) => u[0] * v[1] - u[1] * v[0];
  const times = (s, v) => [s * v[0], s * v[1]];
  const turned = ([a, b]) => [-b, a];
  const zero = (v) => !v[0] && !v[1];
  const total = (vectors) => vectors.reduce((u, v) => [u[0] + v[0], u[1] + v[1]], [0n, 0n]);

  /** A double as a fraction [numerator, denominator]: the decimal of up to six digits that it is
   * written as, else its binary value. */
  function fraction(value) {
    const [digits, exponent] = value.toExponential().split("e");
    const decimals = (digits.split(".")[1] ?? "").length - Number(exponent);
    let [numerator, denominator] = [BigInt(digits.replace(".", "")), 1n];
    if (decimals <= 0) return [numerator * 10n ** BigInt(-decimals), 1n];
    let odd = numerator < 0n ? -numerator : numerator;
    while (odd && odd % 2n === 0n) odd /= 2n;
    if (odd <= MOST_DIGITS) return [numerator, 10n ** BigInt(decimals)];
    for (; !Number.isInteger(value); value *= 2) denominator *= 2n;
    return [BigInt(value), denominator];
  }

  /** Whole numbers and the common factor by which they are too large. */
  function whole(values) {
    const exact = values.map(fraction);
    const greatest = (a, b) => (b ? greatest(b, a % b) : a);
    const factor = exact.reduce((all, [, d]) => (all / greatest(all, d)) * d, 1n);
    return [exact.map(([n, d]) => (n * factor) / d), factor];
  }

  /** n / d as a double. */
  function ratio(n, d) {
    const bits = (v) => (v < 0n ? -v : v).toString(16).length * 4;
    const shift = Math.max(0, bits(d) - bits(n) + 64);
    return Number((n << BigInt(shift)) / d) / 2 ** shift;
  }

  const half = ([a, b]) => (b < 0n || (b === 0n && a < 0n) ? 1 : 0);
  const byAngle = (u, v) =>
    half(u) - half(v) || Number(cross(v, u) > 0n) - Number(cross(v, u) < 0n);

  /** Both directions of every boundary, in the order of their angles, each once. */
  function raysOf(rows) {
    const rays = rows.filter((z) => !zero(z)).flatMap((z) => [turned(z), times(-1n, turned(z))]);
    return rays.sort(byAngle).filter((ray, k, all) => !k || byAngle(ray, all[k - 1]));
  }

  /** The open cells: a point `at` of each, and the `rays` that bound it. */
  function cellsOf(rays) {
    if (!rays.length) return [{ at: [0n, 0n], rays: [] }];
    return rays.map((ray, k) => {
      const next = rays[(k + 1) % rays.length];
      return { at: rays.length === 2 ? turned(ray) : total([ray, next]), rays: [ray, next] };
    });
  }

  /** The normal equations H W = q of the rows `on`. */
  function normal(rows, labels, on) {
    const [H, q] = [
      [0n, 0n, 0n],
      [0n, 0n],
    ];
    for (const i of on) {
      const z = rows[i];
      [H[0], H[1], H[2]] = [H[0] + z[0] * z[0], H[1] + z[0] * z[1], H[2] + z[1] * z[1]];
      [q[0], q[1]] = [q[0] + labels[i] * z[0], q[1] + labels[i] * z[1]];
    }
    return { H, q, det: H[0] * H[2] - H[1] * H[1] };
  }

  /** The fit of the active data within an open cell: {top, below, free, on}, W = top / below. */
  function inCell(rows, labels, { at, rays }) {
    const on = [...rows.keys()].filter((i) => dot(rows[i], at) > 0n);
    if (!on.length)
      return {
        top: at,
        below: 1n,
        free: [
          [1n, 0n],
          [0n, 1n],
        ],
        on,
        rays,
      };
    const { H, q, det } = normal(rows, labels, on);
    if (det > 0n) {
      const top = [H[2] * q[0] - H[1] * q[1], H[0] * q[1] - H[1] * q[0]];
      const inside = rows.every((z) => zero(z) || dot(z, top) * dot(z, at) > 0n);
      return inside ? { top, below: det, free: [], on, rays: [] } : null;
    }
    // All active data are parallel: the fit is a line, which meets the cone where it is positive.
    const pull = dot(q, at);
    const below = H[0] * at[0] ** 2n + 2n * H[1] * at[0] * at[1] + H[2] * at[1] ** 2n;
    return pull > 0n
      ? { top: times(pull, at), below, free: [turned(rows[on[0]])], on, rays }
      : null;
  }

  /** Minima on boundaries whose labels, each times its |x|, sum to at most zero. */
  function onBoundaries(rows, labels, rays) {
    const live = [...rows.keys()].filter((i) => !zero(rows[i]));
    const found = [];
    const holding = rays.slice(0, rays.length / 2).filter((ray) => {
      const across = turned(ray);
      const own = live.filter((i) => !cross(rows[i], across));
      const pull = (i) => labels[i] * (dot(rows[i], across) < 0n ? -1n : 1n) * dot(rows[i], across);
      return own.reduce((sum, i) => sum + pull(i), 0n) <= 0n;
    });
    for (const ray of holding) {
      const inside = live.filter((i) => !dot(rows[i], ray));
      const opposite = new Set(inside.map((i) => dot(rows[i], turned(ray)) > 0n)).size === 2;
      const alone = inside.length === live.length; // the whole line is one piece
      for (const at of alone ? [ray] : [ray, times(-1n, ray)]) {
        const on = live.filter((i) => dot(rows[i], at) > 0n);
        const { H, q } = normal(rows, labels, on);
        const below = H[0] * at[0] ** 2n + 2n * H[1] * at[0] * at[1] + H[2] * at[1] ** 2n;
        const pull = dot(q, at);
        if (on.length && pull <= 0n) continue;
        const one = on.length
          ? { top: times(pull, at), below, free: [], on, inside, rays: [] }
          : {
              top: alone ? [0n, 0n] : at,
              below: 1n,
              free: [at],
              on,
              inside,
              rays: alone ? [] : [at],
            };
        const parallel = on.every((i) => !cross(rows[i], rows[on[0]]));
        const whole = opposite || (on.length && !parallel);
        const around = [turned(at), times(-1n, turned(at))];
        if (whole && isMinimum(rows, labels, one, around)) found.push(one);
      }
    }
    const origin = { top: [0n, 0n], below: 1n, free: [], on: [], inside: live, rays: [] };
    const drained = rays.some((ray) => live.every((i) => dot(rows[i], ray) <= 0n));
    if (holding.length > 1 && !drained && isMinimum(rows, labels, origin, rays)) {
      found.push(origin);
    }
    return found;
  }

  /** Whether the loss falls along none of these directions. */
  function isMinimum(rows, labels, { top, below, on, inside }, around) {
    const g = total(on.map((i) => times(dot(rows[i], top) - labels[i] * below, rows[i])));
    return around.every((v) => {
      const up = (i) => (dot(rows[i], v) > 0n ? labels[i] * dot(rows[i], v) * below : 0n);
      return dot(g, v) - inside.reduce((sum, i) => sum + up(i), 0n) >= 0n;
    });
  }

  const unit = (v) => {
    const size = v.map((c) => (c < 0n ? -c : c)).reduce((a, b) => (a > b ? a : b));
    const u = v.map((c) => ratio(c, size));
    return times(1 / Math.hypot(...u), u);
  };

  /**
   * All local minima on data X (rows of two numbers) with labels y, the best first: {w, loss,
   * support (its active data, from 0), dimension, directions, rank (1 is global), boundary (data
   * that it keeps on their boundary), rays (unit vectors that bound the cell of a set)}.
   */
  reluflow.minima = (X, y) => {
    const [flat, factor] = whole(X.flat());
    const [labels, unitOfLabels] = whole(y);
    const rows = X.map((_, i) => [flat[2 * i], flat[2 * i + 1]]);
    const rays = raysOf(rows);
    const sets = cellsOf(rays)
      .map((cell) => inCell(rows, labels, cell))
      .filter(Boolean);
    sets.push(...onBoundaries(rows, labels, rays));
    const most = labels.reduce((sum, t) => sum + t * t, 0n) || 2n;
    for (const set of sets) {
      const gap = (z, t) => (dot(z, set.top) > 0n ? dot(z, set.top) : 0n) - t * set.below;
      const squares = rows.reduce((sum, z, i) => sum + gap(z, labels[i]) ** 2n, 0n);
      set.share = ratio(squares, most * set.below ** 2n);
      set.loss = ratio(squares, 2n * (set.below * unitOfLabels) ** 2n);
    }
    sets.sort((a, b) => a.share - b.share);
    return sets.map((set, k) => {
      const better = sets.slice(0, k).filter(({ share }) => share < set.share - SAME);
      const steps = better.filter(({ share }, i) => i && share - better[i - 1].share > SAME);
      return {
        // Without active data any point of the set will do: one at the distance 1.
        w:
          !set.on.length && !zero(set.top)
            ? unit(set.top)
            : set.top.map((c) => ratio(c * factor, set.below * unitOfLabels)),
        loss: set.loss,
        support: set.on,
        dimension: set.free.length,
        directions: set.free.map(unit),
        rank: 1 + (better.length ? 1 : 0) + steps.length,
        boundary: set.inside ?? [],
        rays: set.rays.map(unit),
      };
    });
  };
})();
