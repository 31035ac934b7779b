// The exact gradient flow of one ReLU neuron in the plane, dw/dt = sum over the active data of
// (y_i - x_i.w) x_i: between two events w(t) is a constant plus two exponentials, along the
// eigenvectors of a symmetric 2 x 2 matrix. The twin of reluflow.flows.affine.affine_flow; a test
// holds the one against the other.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const EPS = Number.EPSILON;
  const MOST_EVENTS = 10000;
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const length = (v) => Math.hypot(...v);
  const terms = (x, v) => Math.abs(x[0] * v[0]) + Math.abs(x[1] * v[1]);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const product = (u, v) => sum(u.map((value, k) => value * v[k]));

  /** w(s) = w0 + sum_k b_k (1 - exp(-l_k s)) V_k, s the time since t0. The limit is rest + sum_k
   * c_k V_k, rest being what of w0 is orthogonal to V: c does not depend on w0; b and c are added
   * up from numbers of the sizes `widths`. */
  function segment(t0, w0, { V, b, rates, c, rest, widths }) {
    const limit = rest.map((r, i) => r + sum(V.map((v, k) => v[i] * c[k])));
    return { t0, w0, V, b, rates, c, rest, limit, widths };
  }

  const still = (t0, w0) => segment(t0, w0, { V: [], b: [], rates: [], c: [], rest: w0, widths: [0, 0] });

  /** The sizes of what a state is added up from after the time s: from the start, from the limit. */
  const sizes = ({ w0, b, rates, limit }, s) => [
    length(w0) - sum(b.map((v, k) => Math.abs(v) * Math.expm1(-rates[k] * s))),
    length(limit) + sum(b.map((v, k) => Math.abs(v) * Math.exp(-rates[k] * s))),
  ];

  /** The size whose rounding a state has after the time s: not that of a far start that is
   * forgotten. The rounding of l_k s is one of exp(-l_k s), as many times as large. */
  function summed(flow, s) {
    const [early, late] = sizes(flow, s);
    const slack = flow.rates.map((rate, k) => Math.abs(flow.b[k]) * rate * s * Math.exp(-rate * s));
    return Math.min(early, late + sum(slack));
  }

  /** Where a segment is after the time s; early and late each in the form that keeps the digits. */
  function after({ w0, V, b, rates, limit }, s) {
    let [early, late] = [length(w0), length(limit)];
    const [from, to] = [[0, 0], [0, 0]];
    for (let k = 0; k < V.length; k++) {
      const [gone, left] = [-Math.expm1(-rates[k] * s), Math.exp(-rates[k] * s)];
      early += Math.abs(b[k]) * gone;
      late += Math.abs(b[k]) * left;
      for (let i = 0; i < 2; i++) {
        from[i] += V[k][i] * b[k] * gone;
        to[i] += V[k][i] * b[k] * left;
      }
    }
    return [0, 1].map((i) => (early <= late ? w0[i] + from[i] : limit[i] - to[i]));
  }

  /** The segment inside a cell. The data's singular values come from their triangular factor, so
   * that the smaller one keeps its digits. */
  function inCell(X, y, w, h, on, t0) {
    const rows = X.map((x, i) => [x, y[i] - h[i], y[i]]).filter((_, i) => on[i]);
    const columns = [0, 1].map((c) => rows.map(([x]) => x[c]));
    const sizes = columns.map((column) => Math.hypot(...column));
    const [p, q] = sizes[0] >= sizes[1] ? [0, 1] : [1, 0];
    if (!rows.length || !(sizes[p] > 0)) return still(t0, w);
    const unit = columns[p].map((v) => v / sizes[p]);
    const shared = product(unit, columns[q]);
    const rest = columns[q].map((v, i) => v - shared * unit[i]);
    const own = Math.hypot(...rest);
    // H = R^T R for R = [[sizes[p], shared], [0, own]]: eigenvalues and eigenvectors.
    const [a, b, c] = [sizes[p] ** 2, sizes[p] * shared, shared ** 2 + own ** 2];
    const largest = (a + c + Math.hypot(a - c, 2 * b)) / 2;
    const least = (sizes[p] * own) ** 2 / largest;
    const angle = 0.5 * Math.atan2(2 * b, a - c);
    const V = [
      [0, 0],
      [0, 0],
    ];
    [V[0][p], V[0][q]] = [Math.cos(angle), Math.sin(angle)];
    [V[1][p], V[1][q]] = [-V[0][q], V[0][p]];
    const flat = Math.sqrt(least) <= Math.sqrt(largest) * Math.max(rows.length, 2) * EPS;
    const rates = flat ? [largest] : [largest, least];
    // The coordinates of the point that fits these values.
    const fitted = (values) => {
      const force = columns.map((column) => product(column, values));
      const along = dot(force, V[0]) / largest;
      if (flat) return [along];
      const first = product(unit, values);
      const step = [0, 0];
      step[q] =
        product(
          rest,
          values.map((v, i) => v - first * unit[i]),
        ) /
        own ** 2;
      step[p] = (first - shared * step[q]) / sizes[p];
      return [along, dot(step, V[1])];
    };
    const labels = rows.map(([, , label]) => label);
    const gap = rows.map(([, value]) => value);
    return segment(t0, w, {
      V: V.slice(0, rates.length),
      b: fitted(gap),
      rates,
      c: fitted(labels),
      rest: flat ? V[1].map((v) => v * dot(w, V[1])) : [0, 0],
      widths: [gap, labels].map((v) => length(v) / Math.sqrt(rates.at(-1))),
    });
  }

  /** The segment along the boundaries `stay`. */
  function alongBoundary(X, y, w, on, stay, t0) {
    if (stay.length > 1) return still(t0, w);
    const { normal } = stay[0];
    const v = [-normal[1], normal[0]];
    const rows = X.map((x, i) => [dot(x, v), y[i], length(x)]).filter((_, i) => on[i]);
    const rate = sum(rows.map(([slope]) => slope * slope));
    const least = Math.max(Math.sqrt(rate), ...rows.map(([, , size]) => size));
    if (!(Math.sqrt(rate) > Math.max(rows.length, 1) * EPS * least)) return still(t0, w);
    const at = dot(w, v);
    const fitted = (values) => [sum(rows.map(([slope], i) => slope * values[i])) / rate];
    const labels = rows.map(([, label]) => label);
    const gap = rows.map(([slope, label]) => label - slope * at);
    return segment(t0, w, {
      V: [v],
      b: fitted(gap),
      rates: [rate],
      c: fitted(labels),
      rest: [0, 0],
      widths: [gap, labels].map((v) => length(v) / Math.sqrt(rate)),
    });
  }

  /** x.v, and zero where it is rounding alone. */
  const felt = (x, v, most = 4) =>
    Math.abs(dot(x, v)) <= most * EPS * terms(x, v) ? 0 : dot(x, v);

  /** x.w(s), which is h at first, as a sum of exponentials: [h, amplitudes, rates, limit]. */
  function sumOf(x, h, { w0, V, b, rates, c, rest, widths }) {
    const along = V.map((v) => felt(x, v));
    const slopes = along.map((v, k) => v * b[k]);
    const kept = felt(x, rest, 40);
    const [ofB, ofC] = widths.map((width) => sum(along.map(Math.abs)) * width);
    const early = Math.abs(h) + sum(slopes.map(Math.abs)) + ofB + (h === 0 ? 0 : terms(x, w0));
    const late = Math.abs(kept) + ofC;
    const limit = early < late ? h + sum(slopes) : kept + sum(along.map((v, k) => v * c[k]));
    return [h, slopes, rates, Math.abs(limit) <= 32 * EPS * Math.min(early, late) ? 0 : limit];
  }

  /** A bound on the rounding of x.w(s) for x of length one. */
  const rounding = (flow, s) => 40 * EPS * summed(flow, s);

  /** How far the boundaries `stay` are from letting go: sums as of `sumOf` that are positive while
   * they hold. What only fades as the flow comes to rest, to a limit of zero, never lets go. */
  function rooms(X, y, h, flow, on, stay) {
    const { V, b, rates, c, w0 } = flow;
    const fit = [0, 1].map((i) => sum(V.map((v, k) => v[i] * c[k])));
    const sums = reluflow.holding(stay).map(([F, least]) => {
      let [value, width, limit, late] = [least, Math.abs(least), least, Math.abs(least)];
      const slopes = V.map(() => 0);
      X.forEach((x, i) => {
        if (!on[i]) return;
        const push = dot(F, x);
        value -= push * (y[i] - h[i]);
        width += terms(F, x) * (Math.abs(y[i]) + terms(x, w0));
        limit -= push * (y[i] - dot(x, fit));
        late += terms(F, x) * (Math.abs(y[i]) + terms(x, fit));
        V.forEach((v, k) => (slopes[k] += push * dot(x, v) * b[k]));
      });
      const sure = (v, size) => (Math.abs(v) <= 1e-13 * size ? 0 : v);
      return [sure(value, width), slopes.map((v) => sure(v, width)), rates, sure(limit, late)];
    });
    return sums.filter(([, slopes]) => slopes.some(Boolean));
  }

  /** The first contact of a segment with a boundary, or null. `sides` is 1 for active data, -1 for
   * inactive ones and 0 for those that stay on their boundary. */
  function contactOf(X, h, sides, flow, room) {
    if (!flow.rates.length) return null;
    const found = [];
    const sums = X.map((x, j) => sumOf(x, h[j], flow));
    const zero = ([a, slopes, rates, limit], sign) =>
      reluflow.firstZero(a, slopes, rates, sign, limit);
    sums.forEach((each, j) => {
      if (sides[j] && each[1].some(Boolean)) found.push([j, zero(each, sides[j])]);
    });
    for (const each of room) found.push([-1, zero(each, 1)]);
    const when = ({ crossing, touch }) => Math.min(crossing, touch);
    const wait = Math.min(Infinity, ...found.map(([, first]) => when(first)));
    if (wait === Infinity) return null;
    const data = sides.map((side) => side === 0);
    const soon = wait * (1 + 4 * EPS);
    for (const [j, first] of found) if (j >= 0) data[j] ||= when(first) <= soon;
    let w = after(flow, wait);
    // All boundaries meet in 0; a far start that is forgotten is no measure of rounding.
    if (length(w) <= 40 * EPS * summed(flow, wait)) w = [0, 0];
    const ahead = sums.map(([a, slopes, rates, limit]) =>
      length(w) ? reluflow.evaluated(a, slopes, rates, wait, limit) : [0, 0],
    );
    // What rounding cannot tell from a contact at the same moment is one: parallel data among them.
    ahead.forEach(([value, width], j) => {
      if (data[j] || Math.abs(value) > rounding(flow, wait) * length(X[j])) return;
      const there = Math.abs(value) <= 8 * EPS * width || sides[j] * value <= 0;
      data[j] = sums[j][1].some(Boolean) && there;
    });
    return { wait, w, h: ahead.map(([value]) => value), data };
  }

  const names = (data) =>
    data
      .slice(0, 6)
      .map((j) => `x${j + 1}`)
      .join(", ") + (data.length > 6 ? ` and ${data.length - 6} more` : "");

  /** How the flow goes on from w on some boundaries: the new state, or why it cannot be told. */
  function leave(X, y, w, state, boundary) {
    const here = reluflow.surfaces(
      X,
      y,
      X.map((_, j) => j).filter((j) => boundary[j]),
    );
    const strictly = state.on.map((on, j) => on && !boundary[j]);
    const at = reluflow.tangential(here, w);
    const modes = reluflow.continuations(X, y, at, strictly, here);
    if (modes.length !== 1) {
      const place = `the boundary of ${names(here.flatMap(({ data }) => data))}`;
      return modes.length
        ? `more than one flow leaves this point of ${place}`
        : `no flow could be told to leave ${place}`;
    }
    const next = { on: strictly, held: [], resting: [] };
    here.forEach((surface, k) => {
      const side = modes[0].sides[k];
      for (const j of surface.plus) next.on[j] = side > 0;
      for (const j of surface.minus) next.on[j] = side < 0;
      if (!side) (modes[0].resting[k] ? next.resting : next.held).push(surface);
    });
    return next;
  }

  /** The events, in the order of the data, by which the state `old` becomes `next`. */
  function changes(t, old, next, boundary) {
    const sliding = next.held.flatMap(({ data }) => data);
    const before = old.held.flatMap(({ data }) => data);
    const events = [];
    boundary.forEach((there, j) => {
      if (!there) return;
      if (sliding.includes(j)) {
        if (!before.includes(j)) events.push({ t, datum: j, kind: "slide" });
      } else if (next.on[j] && !old.on[j]) {
        events.push({ t, datum: j, kind: "activate" });
      } else if (!next.on[j] && (before.includes(j) || old.on[j])) {
        events.push({ t, datum: j, kind: "deactivate" });
      }
    });
    return events;
  }

  function ending({ on, held }) {
    if (held.length) {
      const data = names(held.flatMap((surface) => surface.data));
      return ["sliding", `converged while sliding along the boundary of ${data}`];
    }
    if (!on.some(Boolean)) {
      return ["converged", "no datum is active, so the flow stays where it is"];
    }
    return ["converged", "no further event: the limit lies in the closure of the last cell"];
  }

  /**
   * The flow from w0 on data X (rows of two numbers) with labels y.
   *
   * Returns {status, detail, end, events, segments, until}. status: "converged"; "sliding",
   * converged on a boundary that attracts from both sides; "non-unique" where more than one flow
   * goes on, with the path up to there; "horizon" after very many events. events: {t, datum (from
   * 0), kind}, kind one of "activate", "deactivate", "slide". until: the time by which the path is
   * drawn to its end.
   */
  reluflow.flow = (X, y, w0) => {
    let [t, w, stalled] = [0, w0.slice(), 0];
    let h = X.map((x) => dot(x, w));
    // A datum counts as on its boundary when rounding alone could have put it there.
    let boundary = X.map((x, j) => length(x) > 0 && Math.abs(h[j]) <= 4 * EPS * terms(x, w));
    let state = { on: h.map((v, j) => v > 0 && !boundary[j]), held: [], resting: [] };
    const [segments, events] = [[], []];
    for (;;) {
      if (boundary.some(Boolean)) {
        const next = leave(X, y, w, state, boundary);
        if (typeof next === "string") return result("non-unique", next, w);
        events.push(...changes(t, state, next, boundary));
        state = next;
        // It is on the boundaries that it stays on, not its rounding off.
        const onto = reluflow.tangential([...state.held, ...state.resting], w);
        h = h.map((v, j) => v + dot(X[j], [onto[0] - w[0], onto[1] - w[1]]));
        w = onto;
      }
      h = h.map((v, j) => (boundary[j] ? 0 : v));
      const stay = [...state.held, ...state.resting];
      const sides = state.on.map((on) => (on ? 1 : -1));
      for (const j of stay.flatMap(({ data }) => data)) sides[j] = 0;
      const current = stay.length
        ? alongBoundary(X, y, w, state.on, stay, t)
        : inCell(X, y, w, h, state.on, t);
      segments.push(current);
      const room = stay.length ? rooms(X, y, h, current, state.on, stay) : [];
      const contact = contactOf(X, h, sides, current, room);
      if (!contact) return result(...ending(state), current.limit);
      if (segments.length > MOST_EVENTS) {
        return result("horizon", `stopped after ${MOST_EVENTS} events`, w);
      }
      stalled = t + contact.wait === t ? stalled + 1 : 0;
      t += contact.wait;
      ({ w, h, data: boundary } = contact);
      if (stalled > 2 * X.length) return result("non-unique", "events pile up", w);
    }

    function result(status, detail, end) {
      const last = segments.at(-1);
      const settles = (status === "converged" || status === "sliding") && last.rates.length;
      const far = settles && length(end) ? Math.max(...last.b.map(Math.abs)) / length(end) : 1;
      const long = 28 + Math.log(Math.max(1, far));
      const until = settles ? last.t0 + long / Math.min(...last.rates) : t;
      return { status, detail, end, events, segments, until };
    }
  };

  /** Times along a path, dense at the two ends of each stretch between events. */
  const times = (reluflow.times = ({ segments, until }, points = 60) => {
    const grid = [0];
    for (let k = 0; k < points; k++) grid.push(1e-6 * 5e5 ** (k / (points - 1)));
    for (let k = points - 1; k >= 0; k--) grid.push(1 - grid[k]);
    return segments.flatMap(({ t0 }, k) => {
      const stop = k + 1 < segments.length ? segments[k + 1].t0 : until;
      return grid.map((u) => t0 + u * (stop - t0));
    });
  });

  /** Points of a path, dense at the two ends of each stretch between events. */
  reluflow.path = (flow, points = 60) => [
    ...times(flow, points).map((t) => reluflow.at(flow, t)),
    flow.end,
  ];

  /** |w(t)| along a path: [t, |w|] of its start and its end, and where it is least and largest. Of
   * points that rounding cannot tell apart the earlier one. */
  reluflow.lengths = (flow) => {
    const size = (t) => [t, length(reluflow.at(flow, t))];
    const grid = times(flow, 60);
    const found = [...(grid.length ? grid : [0]).map(size), [Infinity, length(flow.end)]];
    const extreme = (sign) => {
      const above = (p, q) => sign * (p[1] - q[1]) > 1e-14 * Math.abs(p[1]);
      const k = found.reduce((best, p, i) => (above(p, found[best]) ? i : best), 0);
      let [lo, hi] = [found[Math.max(0, k - 1)][0], found[Math.min(k + 1, grid.length - 1)]?.[0]];
      let best = found[k];
      for (let turn = 0; turn < 60 && k > 0 && k < grid.length; turn++) {
        const [p, q] = [size(lo + (hi - lo) / 3), size(hi - (hi - lo) / 3)];
        if (sign * (p[1] - q[1]) > 0) hi = q[0];
        else lo = p[0];
        for (const each of [p, q]) if (above(each, best)) best = each;
      }
      return best;
    };
    return { first: found[0], last: found.at(-1), least: extreme(-1), most: extreme(1) };
  };

  /** L(w) = 1/2 sum_i (max(x_i.w, 0) - y_i)^2. */
  reluflow.loss = (X, y, w) =>
    X.reduce((total, x, i) => total + (Math.max(dot(x, w), 0) - y[i]) ** 2, 0) / 2;

  /** Where the flow is at the time t. */
  reluflow.at = ({ segments, end }, t) => {
    const current = segments.findLast(({ t0 }) => t0 <= t);
    return current ? after(current, t - current.t0) : end;
  };
})();
