// Chapter 3's first act in the plane: a neuron's path for eps -> 0, exactly, piece by piece; and the
// true flow of a network at a finite eps, by steps.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const ROUNDING = 1e-12;
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const size = (a) => Math.hypot(a[0], a[1]);
  const plus = (a, c, b) => [a[0] + c * b[0], a[1] + c * b[1]];

  /** s times the sum of y_i x_i over the active data. */
  const pull = (X, y, active, s) =>
    active.reduce((sum, on, i) => (on ? plus(sum, s * y[i], X[i]) : sum), [0, 0]);

  /** The angle between two vectors. */
  const between = (a, b) => Math.abs(Math.atan2(a[0] * b[1] - a[1] * b[0], dot(a, b)));

  /** Which data are active just behind w, where some are on their boundary; or how it stays there. */
  function leaving(X, y, w, s) {
    const heights = X.map((x) => dot(w, x) / (size(w) * size(x)));
    const on = heights.map((h) => h > ROUNDING);
    const edge = heights.flatMap((h, i) => (Math.abs(h) <= ROUNDING ? [i] : []));
    if (!edge.length) return { active: on };
    // In the plane the data on the boundary through w are parallel: it has two sides.
    const side = X[edge[0]];
    // Where data on their boundary do not count, sigma'(0) = 0, and nothing else moves w across, it
    // stays there.
    if (dot(pull(X, y, on, s), side) === 0) return { active: on };
    const ways = [1, -1].filter((way) => {
      const active = on.map((each, i) => each || (edge.includes(i) && way * dot(X[i], side) > 0));
      return way * dot(pull(X, y, active, s), side) > 0;
    });
    if (ways.length === 0) {
      const sides = [1, -1].map((way) =>
        on.map((each, i) => each || (edge.includes(i) && way * dot(X[i], side) > 0)),
      );
      // It slides where both sides push; where a side has no pull at all, w rests on it.
      const rests = sides.find((active) => dot(pull(X, y, active, s), side) === 0);
      return rests ? { active: rests } : { active: on, ends: "slides" };
    }
    if (ways.length === 2) return { active: on, ends: "two ways" };
    const [way] = ways;
    return { active: on.map((each, i) => each || (edge.includes(i) && way * dot(X[i], side) > 0)) };
  }

  /**
   * The path of a neuron w with the sign s for eps -> 0: `pieces` {from, along, active, t, until,
   * at} with `along` the vector on which the point runs and `at` where it ends (null at infinity),
   * and `ends`: "dead", "home", "other" (it keeps other data), "slides", "two ways".
   */
  function align(X, y, w, s) {
    const pieces = [];
    let [point, t] = [w, 0];
    for (let turn = 0; turn <= 4 * X.length + 4; turn++) {
      const { active, ends } = leaving(X, y, point, s);
      const along = pull(X, y, active, s);
      const piece = { from: point, along, active, t, until: Infinity, at: null };
      pieces.push(piece);
      if (ends) return { pieces, ends, t };
      // A point that runs straight at 0, or away from it, keeps its direction.
      const still = size(along) === 0 || Math.abs(Math.sin(between(point, along))) < 1e-9;
      const stops = still
        ? []
        : X.map((x, i) => ({ i, far: -dot(point, x) / dot(along, x) })).filter(
            ({ far, i }) => far > 0 && far < Infinity && active[i] === dot(along, X[i]) < 0,
          );
      if (!stops.length) {
        const own = active.every((on, i) => on === s * y[i] > 0);
        return { pieces, ends: active.some(Boolean) ? (own ? "home" : "other") : "dead", t };
      }
      const { far, i } = stops.reduce((a, b) => (b.far < a.far ? b : a));
      let at = plus(point, far, along);
      at = plus(at, -dot(at, X[i]) / dot(X[i], X[i]), X[i]); // on the boundary, to the last digit
      const [before, after] = [point, at].map((each) => between(each, along));
      t += Math.log(Math.tan(before / 2) / Math.tan(after / 2)) / size(along);
      Object.assign(piece, { until: t, at });
      point = at;
    }
    return { pieces, ends: "other", t };
  }

  /** The unit direction of such a path at a time. */
  function directionAt({ pieces }, time) {
    const { from, along, t } = pieces.findLast((piece) => piece.t <= time) ?? pieces[0];
    const length = size(along);
    const unit = [from[0] / size(from), from[1] / size(from)];
    if (length === 0) return unit;
    const to = [along[0] / length, along[1] / length];
    const turn = Math.sign(to[0] * unit[1] - to[1] * unit[0]);
    const psi = 2 * Math.atan(Math.tan(between(unit, to) / 2) * Math.exp(-length * (time - t)));
    const across = [-turn * to[1], turn * to[0]];
    return [0, 1].map((c) => to[c] * Math.cos(psi) + across[c] * Math.sin(psi));
  }

  /** mu of (A1): the least cosine between two of the y_i x_i. */
  function separation(X, y) {
    const cosines = X.flatMap((a, i) =>
      X.map((b, j) => (y[i] * y[j] * dot(a, b)) / (size(a) * size(b))),
    );
    return Math.min(...cosines);
  }

  // Dormand and Prince's pair of orders 5 and 4.
  const A = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
  ];
  const ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

  function add(sum, c, k) {
    for (let i = 0; i < sum.length; i++) sum[i] += c * k[i];
  }

  /**
   * States (flat arrays) of dz/dt = rate(z) at the times t, by steps whose error is at most
   * `tolerance`; stops early after `most` steps.
   */
  function steps(rate, z, t, tolerance = 1e-8, most = 20000) {
    const found = [z];
    let [h, k1] = [1e-3, rate(z)];
    for (let i = 1; i < t.length; i++) {
      let now = t[i - 1];
      while (now < t[i]) {
        if (most-- <= 0) return found;
        const last = now + h >= t[i];
        const step = last ? t[i] - now : h;
        const ks = [k1];
        let next = z;
        for (const row of A) {
          next = z.slice();
          for (let j = 0; j < row.length; j++) add(next, step * row[j], ks[j]);
          ks.push(rate(next));
        }
        const off = z.map(() => 0);
        for (let j = 0; j < 7; j++) add(off, step * ERROR[j], ks[j]);
        const wrong = Math.max(1e-16, ...off.map(Math.abs));
        if (wrong <= tolerance || step < 1e-9) {
          [z, k1, now] = [next, ks[6], last ? t[i] : now + step];
        }
        const better = step * Math.min(4, Math.max(0.2, 0.9 * (tolerance / wrong) ** 0.2));
        if (!last || wrong > tolerance || better < h) h = Math.max(better, 1e-9);
      }
      found.push(z);
    }
    return found;
  }

  /** d/dt of (angle, log length) of all neurons, balanced, under the exponential loss. */
  function network(X, y, signs) {
    return (z) => {
      const outputs = X.map(() => 0);
      const units = signs.map((_, j) => [Math.cos(z[2 * j]), Math.sin(z[2 * j])]);
      for (const [j, s] of signs.entries()) {
        const weight = s * Math.exp(2 * z[2 * j + 1]);
        for (const [i, x] of X.entries()) outputs[i] += weight * Math.max(0, dot(units[j], x));
      }
      const slopes = outputs.map((f, i) => y[i] * Math.exp(-y[i] * f));
      return signs.flatMap((s, j) => {
        const u = units[j];
        const G = X.reduce((sum, x, i) => (dot(u, x) > 0 ? plus(sum, s * slopes[i], x) : sum), [0, 0]);
        return [u[0] * G[1] - u[1] * G[0], dot(u, G)];
      });
    };
  }

  reluflow.polygon = { align, directionAt, network, separation, steps };
})();
