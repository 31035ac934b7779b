// What a flow does, in words.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const { short, point } = reluflow;

  const listed = (data) => {
    const names = data.map(reluflow.named);
    if (names.length < 3) return names.join(" and ");
    return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  };

  const MOST_NAMES = 6;

  /** x₁ and x₂; of many data how many they are. */
  const few = (data, X) =>
    data.length > MOST_NAMES ? `${data.length} of ${X.length} data` : listed(data);

  /** x₁ and x₂ are. */
  const are = (data, X) => {
    if (!data.length) return "no datum is";
    if (data.length > 1 && data.length === X.length) return "all data are";
    return `${few(data, X)} ${data.length > 1 ? "are" : "is"}`;
  };

  /** The loss at w in words, 0 where it is the rounding of a flow that fits its data. */
  const lossAt = ({ X, y }, w) => {
    const found = reluflow.loss(X, y, w);
    return short(found <= 1e-24 * reluflow.loss(X, y, [0, 0]) ? 0 : found);
  };

  /** A start near 0, along the velocity there: a ten-thousandth of the way to the farthest of the
   * minima, of which it takes the first digits. */
  const nearZero = ({ X, y }) => {
    const pull = [0, 1].map((c) => X.reduce((sum, x, i) => sum + y[i] * x[c], 0));
    const points = reluflow.minima(X, y).filter(({ dimension }) => !dimension);
    const far = Math.max(0, ...points.map(({ w }) => Math.hypot(...w))) || 1;
    const size = Math.hypot(...pull);
    const way = size ? pull.map((v) => v / size) : [1, 1];
    return way.map((v) => Number((1e-4 * far * v).toPrecision(2)) + 0);
  };

  Object.assign(reluflow, { are, few, lossAt, nearZero });

  /** The local minimum in which a flow has ended, if it is one. */
  reluflow.reached = (sets, { end }, { X, y }) => {
    const loss = reluflow.loss(X, y, end);
    const close = 1e-9 * (reluflow.loss(X, y, [0, 0]) + loss);
    const size = 1e-6 * Math.max(...sets.map(({ w }) => Math.hypot(...w)), Math.hypot(...end));
    return sets.find((set) => {
      if (Math.abs(set.loss - loss) > close) return false;
      if (set.dimension === 2) return !reluflow.activeAt(X, end).length;
      const away = [end[0] - set.w[0], end[1] - set.w[1]];
      const v = set.directions[0] ?? [0, 0];
      const along = away[0] * v[0] + away[1] * v[1];
      return Math.hypot(away[0] - along * v[0], away[1] - along * v[1]) <= size;
    });
  };

  /** Two or three sentences on the flow: from where, what happens, where it ends. */
  reluflow.told = (state, flow, sets, end) => {
    const { X, w } = state;
    const { events, status, detail } = flow;
    const from = `From ${point(w)}, where ${are(reluflow.activeAt(X, w), X)} active, the flow`;
    if (!flow.segments.length) return `${from} cannot be followed: ${detail}.`;
    const count =
      ["without an event", "after 1 event"][events.length] ?? `after ${events.length} events`;
    const there = `L = ${lossAt(state, flow.end)}`;
    const global = `the global minimum has L = ${short(sets[0].loss)}`;
    if (status === "non-unique" || status === "horizon") {
      return `${from} stops at ${point(flow.end)} ${count}, with ${there}: ${detail}.`;
    }
    if (!reluflow.activeAt(X, flow.end).length && detail.startsWith("no datum")) {
      const ends = events.length
        ? `dies at ${point(flow.end)} ${count}: no datum is active there, and nothing moves it`
        : "stays where it is: nothing moves the neuron, it is dead";
      const best = end?.rank === 1 ? "which is the least possible" : global;
      return `${from} ${ends}. It has ${there}; ${best}.`;
    }
    const how = status === "sliding" ? ", in the end along a boundary," : "";
    const ranks = Math.max(...sets.map(({ rank }) => rank));
    const rank = !end
      ? "This is no local minimum."
      : end.rank === 1
        ? "This is a global minimum."
        : `This is a local minimum of rank ${end.rank} of ${ranks}; ${global}.`;
    return `${from} converges${how} to ${point(flow.end)} ${count}. There ${there}. ${rank}`;
  };

  /** A sentence on |w(t)|: from where to where, and by how much it passes both on the way. */
  reluflow.toldLength = (flow) => {
    const { first, last, least, most } = reluflow.lengths(flow);
    const passes = (name, [t, size], bound, side) => {
      const by = Math.abs(size - bound);
      if (by <= 1e-13 * Math.max(size, bound)) return [];
      const more = `${short(by, 2)} ${side} both ends`;
      return [`It is ${name}, ${short(size)}, at t = ${short(t)}: ${more}.`];
    };
    return [
      `|w| goes from ${short(first[1])} to ${short(last[1])}.`,
      ...passes("least", least, Math.min(first[1], last[1]), "below"),
      ...passes("largest", most, Math.max(first[1], last[1]), "above"),
    ].join(" ");
  };

  /** Where a set of minima is. */
  reluflow.where = (set) => {
    if (set.dimension === 2) return "a whole cell";
    return set.dimension ? `a line through ${point(set.w)}` : point(set.w);
  };
})();
