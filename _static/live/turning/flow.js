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

  /** The pulls y_i / (1 + e^margin) of all data over the sum of their sizes, and how steeply the
   * logarithm of each falls with its margin. */
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
    return { pull: logs.map((log, i) => y[i] * Math.exp(log - top)), steep: q.map((v) => Math.exp(v - softplus(v))) };
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
    const { pull } = pulls(X, y, signs, z, on);
    return signs.flatMap((sign, j) => {
      const [c, s] = [Math.cos(z[2 * j]), Math.sin(z[2 * j])];
      const along = X.reduce((sum, x, i) => (on[j][i] ? sum + sign * pull[i] * (c * x[0] + s * x[1]) : sum), 0);
      return [held[j] ? 0 : turning(X, sign, z[2 * j], pull, on[j]), along];
    });
  }

  /** The matrix of the derivatives of the rates, by rows. */
  function jacobian(X, y, signs, z, { on, held }) {
    const { pull, steep } = pulls(X, y, signs, z, on);
    const u = signs.map((_, j) => [Math.cos(z[2 * j]), Math.sin(z[2 * j])]);
    const ahead = (j, x) => u[j][0] * x[0] + u[j][1] * x[1];
    const aside = (j, x) => u[j][0] * x[1] - u[j][1] * x[0];
    const falls = X.map((x, i) =>
      signs.flatMap((s, j) => {
        const by = on[j][i] ? steep[i] * y[i] * s * Math.exp(2 * z[2 * j + 1]) : 0;
        return [by * aside(j, x), 2 * by * ahead(j, x)];
      }),
    );
    const all = z.map((_, c) => falls.reduce((sum, fall, i) => sum + Math.abs(pull[i]) * fall[c], 0));
    const row = (j, part) => {
      const parts = X.map((x, i) => (on[j][i] ? signs[j] * pull[i] * part(j, x) : 0));
      const total = parts.reduce((a, b) => a + b, 0);
      return [total, z.map((_, c) => parts.reduce((sum, v, i) => (v ? sum + v * (all[c] - falls[i][c]) : sum), 0))];
    };
    return signs.flatMap((_, j) => {
      const [[grows, along], [turns, across]] = [row(j, ahead), row(j, aside)];
      along[2 * j] += turns;
      across[2 * j] -= grows;
      return [held[j] ? z.map(() => 0) : across, along];
    });
  }

  const height = (angle, x) => (Math.cos(angle) * x[0] + Math.sin(angle) * x[1]) / Math.hypot(...x);
  /** The data active on a side of the boundary on which the data `edge` are zero: way 1 is to the left. */
  const beyond = (X, on, edge, angle, way) =>
    on.map((each, i) => (edge.includes(i) ? way * (X[i][1] * Math.cos(angle) - X[i][0] * Math.sin(angle)) > 0 : each));

  /** What must not fall below 0 while the same data are active: [value, neuron], [value, neuron, way]. */
  function guards(X, y, signs, z, { on, held }) {
    const { pull } = pulls(X, y, signs, z, on);
    return signs.flatMap((s, j) => {
      const angle = z[2 * j];
      if (!held[j]) return X.map((x, i) => [(on[j][i] ? 1 : -1) * height(angle, x), j]);
      return [1, -1].map((way) => [REST - way * turning(X, s, angle, pull, beyond(X, on[j], held[j], angle, way)), j, way]);
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
    const { pull } = pulls(X, y, signs, z, on);
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

  /** A step of Rodas3, and what it may be wrong by. */
  function step(f, z, here, J, h) {
    const solve = solver(z.map((_, i) => z.map((__, c) => (i === c ? 2 / h : 0) - J[i][c])));
    const K = [];
    for (let k = 0; k < 4; k++) {
      const at = z.map((value, i) => A[k].reduce((sum, a, j) => sum + a * K[j][i], value));
      const slope = k < 2 ? here : f(at);
      K.push(solve(slope.map((v, i) => C[k].reduce((sum, c, j) => sum + (c / h) * K[j][i], v))));
    }
    return [z.map((value, i) => value + 2 * K[0][i] + K[2][i] + K[3][i]), K[3]];
  }

  /**
   * The flow from z until log(1/loss) is `last`: `states`, `clock` (log(1/loss) of each), `sigma`, and
   * `ends`: "there", "rests" where nothing moves any more, "slow" where `most` steps were not
   * enough. A step ends where a neuron comes to the boundary of a datum, which it crosses or on which
   * it is held. A generator, which rests after each step.
   */
  function* following(X, y, signs, z, last, tolerance = 1e-6, most = 3000) {
    const found = { states: [z], clock: [depth(X, y, signs, z)], sigma: [0], ends: "there" };
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
      const J = jacobian(X, y, signs, z, now);
      const share = (state) => pulls(X, y, signs, state, now.on).pull;
      // Of angles; lengths may be ten times as wrong. Late a margin is as large as log(1/loss), and
      // what is nothing to an angle may turn a pull round: these may be a hundred times as wrong.
      const error = (state, off) => {
        const [a, b] = [share(state), share(state.map((v, c) => v - off[c]))];
        return Math.max(1e-16, ...off.map((v, c) => Math.abs(v) / (c % 2 ? 10 : 1)), ...a.map((v, i) => Math.abs(v - b[i]) / 100));
      };
      const broken = (state) => guards(X, y, signs, state, now).filter(([value]) => !(value >= -EDGE));
      let next, wrong, past, tried;
      for (;;) {
        tried = h;
        const [after, off] = step(f, z, here, J, h);
        next = after;
        wrong = error(after, off);
        const better = h * Math.min(4, Math.max(0.2, 0.9 * (wrong / tolerance) ** (-1 / 3)));
        const fine = wrong <= tolerance || h < 1e-7;
        h = Math.min(Number.isFinite(better) ? Math.max(better, 1e-7) : h / 5, Math.max(0.5, found.sigma.at(-1) / 20));
        if (fine) break;
      }
      past = broken(next);
      if (past.length || depth(X, y, signs, next) > last) {
        // The shortest step that an event ends, or the end of the clock.
        let low = 0;
        const least = 1e-7 * tried;
        while (tried - low > least) {
          const middle = (low + tried) / 2;
          const [state] = step(f, z, here, J, middle);
          const events = broken(state);
          if (events.length || depth(X, y, signs, state) > last) [tried, next, past] = [middle, state, events];
          else low = middle;
        }
        for (const [, j, left] of past) now = regime(X, y, signs, next, now, j, left);
      }
      z = next;
      found.sigma.push(found.sigma.at(-1) + tried);
      found.states.push(z);
      found.clock.push(depth(X, y, signs, z));
      yield;
    }
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

  reluflow.turning = { follow, following, stateAt, margins };
})();
