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

  /** dz/dsigma, where d sigma = (the sum of the pulls of all data) dt: of the largest one alone it
   * would bend wherever two change places, which a step near the end does all the time. */
  function rate(X, y, signs, z) {
    const logs = margins(X, y, signs, z).map((q) => -softplus(q));
    const most = Math.max(...logs);
    const top = most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
    const found = new Array(z.length);
    for (let j = 0; j < signs.length; j++) {
      const [c, s] = [Math.cos(z[2 * j]), Math.sin(z[2 * j])];
      let [along, across] = [0, 0];
      for (let i = 0; i < X.length; i++) {
        const height = c * X[i][0] + s * X[i][1];
        if (height <= 0) continue;
        const pull = signs[j] * y[i] * Math.exp(logs[i] - top);
        along += pull * height;
        across += pull * (c * X[i][1] - s * X[i][0]);
      }
      [found[2 * j], found[2 * j + 1]] = [across, along];
    }
    return found;
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

  const [A, C] = [
    [[], [0], [2, 0], [2, 0, 1]],
    [[], [4], [1, -1], [1, -1, -8 / 3]],
  ];

  /**
   * The flow from z until log(1/loss) is `last`: `states`, `clock` (log(1/loss) of each), and
   * `ends`, "there" or "slow" where `most` steps were not enough, as along a boundary that holds a
   * neuron. A generator, which rests after each step.
   */
  function* following(X, y, signs, z, last, tolerance = 1e-6, most = 1500) {
    const f = (state) => rate(X, y, signs, state);
    const found = { states: [z], clock: [depth(X, y, signs, z)], ends: "there" };
    let h = 1e-3;
    for (let count = 0; found.clock.at(-1) < last; count++) {
      if (count >= most) return { ...found, ends: "slow" };
      const here = f(z);
      const nudge = 1e-7 / Math.max(1, 1e-3 * found.clock.at(-1)); // margins bend the sharper
      const J = z.map((value, c) => {
        const nudged = z.slice();
        nudged[c] = value + nudge;
        const by = nudged[c] - value;
        return f(nudged).map((after, i) => (after - here[i]) / by);
      });
      for (;;) {
        const solve = solver(z.map((_, i) => z.map((__, c) => (i === c ? 2 / h : 0) - J[c][i])));
        const K = [];
        for (let k = 0; k < 4; k++) {
          const at = z.map((value, i) => A[k].reduce((sum, a, j) => sum + a * K[j][i], value));
          const slope = k < 2 ? here : f(at);
          K.push(solve(slope.map((v, i) => C[k].reduce((sum, c, j) => sum + (c / h) * K[j][i], v))));
        }
        const next = z.map((value, i) => value + 2 * K[0][i] + K[2][i] + K[3][i]);
        const wrong = Math.max(1e-16, ...K[3].map(Math.abs)) / tolerance;
        const better = h * Math.min(4, Math.max(0.2, 0.9 * wrong ** (-1 / 3)));
        const fine = wrong <= 1 || h < 1e-7;
        h = Math.min(Number.isFinite(better) ? Math.max(better, 1e-7) : h / 5, 0.5);
        if (!fine) continue;
        z = next;
        break;
      }
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
