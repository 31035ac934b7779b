// Chapter 4's flow in the plane: balanced neurons as an angle and the logarithm of a length, under
// the logistic loss, to losses like e^(-10^6). By steps: Rodas3, stiffly stable, of order 3.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

  /** log of log(1 + e^(-q)), for q up to where doubles end. */
  const logLoss = (q) => (q > 30 ? -q : Math.log(softplus(-q)));

  /** The margins y_i f(x_i) at z = (angles, log lengths, alternating). */
  function margins(X, y, signs, z) {
    const q = X.map(() => 0);
    for (let j = 0; j < signs.length; j++) {
      const [c, s] = [Math.cos(z[2 * j]), Math.sin(z[2 * j])];
      const weight = signs[j] * Math.exp(2 * z[2 * j + 1]);
      for (let i = 0; i < X.length; i++) {
        const height = c * X[i][0] + s * X[i][1];
        if (height > 0) q[i] += y[i] * weight * height;
      }
    }
    return q;
  }

  /** log(1/loss) at z. */
  function depth(X, y, signs, z) {
    const parts = margins(X, y, signs, z).map(logLoss);
    const top = Math.max(...parts);
    return -top - Math.log(parts.reduce((sum, part) => sum + Math.exp(part - top), 0));
  }

  /** The pulls y_i exp(-margin) / ... of all data, of which the largest are near 1. */
  function pulls(X, y, signs, z, on) {
    const q = X.map(() => 0);
    for (let j = 0; j < signs.length; j++) {
      const [c, s] = [Math.cos(z[2 * j]), Math.sin(z[2 * j])];
      const weight = signs[j] * Math.exp(2 * z[2 * j + 1]);
      for (let i = 0; i < X.length; i++) if (on[j][i]) q[i] += y[i] * weight * (c * X[i][0] + s * X[i][1]);
    }
    const logs = q.map((v) => -softplus(v));
    const most = Math.max(...logs);
    const top = most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
    return logs.map((log, i) => y[i] * Math.exp(log - top));
  }

  /** How fast neuron j turns where these data are active. */
  function turning(X, s, angle, pull, active) {
    const t = [-Math.sin(angle), Math.cos(angle)];
    return X.reduce((sum, x, i) => (active[i] ? sum + s * pull[i] * (t[0] * x[0] + t[1] * x[1]) : sum), 0);
  }

  /** dz/dsigma, where d sigma = (the sum of the pulls of all data) dt: of the largest one alone it
   * would bend wherever two change places, which a step near the end does all the time. Which data
   * are active is as in `on` through the whole step, and a neuron that is held does not turn. */
  function rate(X, y, signs, z, { on, held }) {
    const pull = pulls(X, y, signs, z, on);
    return signs.flatMap((sign, j) => {
      const [c, s] = [Math.cos(z[2 * j]), Math.sin(z[2 * j])];
      const along = X.reduce((sum, x, i) => (on[j][i] ? sum + sign * pull[i] * (c * x[0] + s * x[1]) : sum), 0);
      return [held[j] ? 0 : turning(X, sign, z[2 * j], pull, on[j]), along];
    });
  }

  const height = (angle, x) => (Math.cos(angle) * x[0] + Math.sin(angle) * x[1]) / Math.hypot(...x);
  /** The data active on a side of the boundary on which the data `edge` are zero: way 1 is to the left. */
  const beyond = (X, on, edge, angle, way) =>
    on.map((each, i) => (edge.includes(i) ? way * (X[i][1] * Math.cos(angle) - X[i][0] * Math.sin(angle)) > 0 : each));

  /** What must not fall below 0 while the same data are active: [value, neuron], [value, neuron, way]. */
  function guards(X, y, signs, z, { on, held }) {
    const pull = pulls(X, y, signs, z, on);
    return signs.flatMap((s, j) => {
      const angle = z[2 * j];
      if (!held[j]) return X.map((x, i) => [(on[j][i] ? 1 : -1) * height(angle, x), j]);
      return [1, -1].map((way) => [-way * turning(X, s, angle, pull, beyond(X, on[j], held[j], angle, way)), j, way]);
    });
  }

  /** The regime behind an event of neuron j, which may put it on its boundary: it crosses, or where
   * both sides turn it back it is held there, as the limit of ever shorter steps is; or it leaves. */
  function regime(X, y, signs, z, { on, held }, j, left) {
    const next = { on: on.slice(), held: held.slice() };
    if (left) {
      next.on[j] = beyond(X, on[j], held[j], z[2 * j], left);
      next.held[j] = null;
      return next;
    }
    const nearest = X.reduce((a, b) => (Math.abs(height(z[2 * j], b)) < Math.abs(height(z[2 * j], a)) ? b : a));
    const across = Math.atan2(nearest[0], -nearest[1]); // at right angles to it
    z[2 * j] = across + Math.PI * Math.round((z[2 * j] - across) / Math.PI);
    const angle = z[2 * j];
    const edge = X.flatMap((x, i) => (Math.abs(height(angle, x)) < 1e-9 ? [i] : []));
    const pull = pulls(X, y, signs, z, on);
    const way = Math.sign(turning(X, signs[j], angle, pull, on[j]));
    const after = beyond(X, on[j], edge, angle, way);
    const back = way * turning(X, signs[j], angle, pull, after) < 0;
    next.on[j] = back ? on[j].map((each, i) => each && !edge.includes(i)) : after;
    next.held[j] = back ? edge : null;
    return next;
  }

  /** The decomposition of a square matrix (rows, changed) and the function that solves with it. */
  function solver(M) {
    const n = M.length;
    const order = M.map((_, i) => i);
    for (let k = 0; k < n; k++) {
      let p = k;
      for (let i = k + 1; i < n; i++) if (Math.abs(M[i][k]) > Math.abs(M[p][k])) p = i;
      [M[k], M[p]] = [M[p], M[k]];
      [order[k], order[p]] = [order[p], order[k]];
      for (let i = k + 1; i < n; i++) {
        const factor = (M[i][k] /= M[k][k]);
        if (factor !== 0) for (let j = k + 1; j < n; j++) M[i][j] -= factor * M[k][j];
      }
    }
    return (b) => {
      const x = order.map((i) => b[i]);
      for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) x[i] -= M[i][j] * x[j];
      for (let i = n - 1; i >= 0; i--) {
        for (let j = i + 1; j < n; j++) x[i] -= M[i][j] * x[j];
        x[i] /= M[i][i];
      }
      return x;
    };
  }

  const EDGE = 1e-11; // of a boundary: rounding
  const REST = 1e-9; // a rate at which nothing moves
  const [A, C] = [
    [[], [0], [2, 0], [2, 0, 1]],
    [[], [4], [1, -1], [1, -1, -8 / 3]],
  ];

  /** A step of Rodas3 and how wrong it may be. */
  function step(f, z, here, J, h) {
    const solve = solver(z.map((_, i) => z.map((__, c) => (i === c ? 2 / h : 0) - J[c][i])));
    const K = [];
    for (let k = 0; k < 4; k++) {
      const at = z.map((value, i) => A[k].reduce((sum, a, j) => sum + a * K[j][i], value));
      const slope = k < 2 ? here : f(at);
      K.push(solve(slope.map((v, i) => C[k].reduce((sum, c, j) => sum + (c / h) * K[j][i], v))));
    }
    return [z.map((value, i) => value + 2 * K[0][i] + K[2][i] + K[3][i]), Math.max(1e-16, ...K[3].map(Math.abs))];
  }

  /**
   * The flow from z until log(1/loss) is `last`: `states`, `clock` (log(1/loss) of each), and
   * `ends`: "there", "rests" where nothing moves any more, "slow" where `most` steps were not
   * enough. A step ends where a neuron comes to the boundary of a datum, which it crosses or on which
   * it is held. A generator, which rests after each step.
   */
  function* following(X, y, signs, z, last, tolerance = 1e-6, most = 1500) {
    const found = { states: [z], clock: [depth(X, y, signs, z)], ends: "there" };
    let now = {
      on: signs.map((_, j) => X.map((x) => height(z[2 * j], x) > 0)),
      held: signs.map(() => null),
    };
    let h = 1e-3;
    for (let count = 0; found.clock.at(-1) < last; count++) {
      if (count >= most) return { ...found, ends: "slow" };
      const f = (state) => rate(X, y, signs, state, now);
      const here = f(z);
      if (Math.max(...here.map(Math.abs)) < REST) return { ...found, ends: "rests" };
      const nudge = 1e-7 / Math.max(1, 1e-3 * found.clock.at(-1)); // margins bend the sharper
      const J = z.map((value, c) => {
        const nudged = z.slice();
        nudged[c] = value + nudge;
        const by = nudged[c] - value;
        return f(nudged).map((after, i) => (after - here[i]) / by);
      });
      const broken = (state) => guards(X, y, signs, state, now).filter(([value]) => !(value >= -EDGE));
      let next, wrong, past, tried;
      for (;;) {
        tried = h;
        [next, wrong] = step(f, z, here, J, h);
        const better = h * Math.min(4, Math.max(0.2, 0.9 * (wrong / tolerance) ** (-1 / 3)));
        const fine = wrong <= tolerance || h < 1e-7;
        h = Math.min(Number.isFinite(better) ? Math.max(better, 1e-7) : h / 5, 0.5);
        if (fine) break;
      }
      past = broken(next);
      if (past.length) {
        // The shortest step that an event ends.
        let [low, high] = [0, tried];
        while (high - low > 1e-7 * tried) {
          const middle = (low + high) / 2;
          const [state] = step(f, z, here, J, middle);
          const events = broken(state);
          if (events.length) [high, next, past] = [middle, state, events];
          else low = middle;
        }
        for (const [, j, left] of past) now = regime(X, y, signs, next, now, j, left);
      }
      z = next;
      found.states.push(z);
      found.clock.push(depth(X, y, signs, z));
      yield;
    }
    found.states[found.states.length - 1] = stateAt(found, last);
    found.clock[found.clock.length - 1] = last;
    return found;
  }

  /** The state where log(1/loss) is `level`, between two steps. */
  function stateAt({ states, clock }, level) {
    const k = Math.max(1, clock.findIndex((value) => value >= level));
    if (clock.at(-1) < level) return states.at(-1);
    const share = Math.min(1, Math.max(0, (level - clock[k - 1]) / (clock[k] - clock[k - 1])));
    return states[k].map((value, i) => states[k - 1][i] + share * (value - states[k - 1][i]));
  }

  /** The same at once. */
  function follow(...given) {
    const course = following(...given);
    for (;;) {
      const { done, value } = course.next();
      if (done) return value;
    }
  }

  reluflow.turning = { follow, following, stateAt };
})();
