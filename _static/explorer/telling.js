// What a flow does, in words.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  /** A number to so many digits, with a minus sign as in print. */
  const short = (v, digits = 5) => String(Number(v.toPrecision(digits))).replaceAll("-", "\u2212");
  /** (1.5, -2), and what is rounding of the other coordinate as 0. */
  const point = (w) =>
    `(${w.map((v) => short(Math.abs(v) < 1e-12 * Math.hypot(...w) ? 0 : v)).join(", ")})`;

  const listed = (data) => {
    const names = data.map(reluflow.named);
    if (names.length < 3) return names.join(" and ");
    return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  };

  /** x₁ and x₂ are. */
  const are = (data, X) => {
    if (!data.length) return "no datum is";
    if (data.length > 1 && data.length === X.length) return "all data are";
    return `${listed(data)} ${data.length > 1 ? "are" : "is"}`;
  };

  Object.assign(reluflow, { short, point, are });

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

  /** One or two sentences on the flow: from where, what happens, where it ends. */
  reluflow.told = ({ X, y, w }, flow, sets, end) => {
    const { events, status, detail } = flow;
    const from = `From ${point(w)}, where ${are(reluflow.activeAt(X, w), X)} active, the flow`;
    const count =
      ["without an event", "after 1 event"][events.length] ?? `after ${events.length} events`;
    const loss = `L = ${short(reluflow.loss(X, y, flow.end))}`;
    if (status === "non-unique" || status === "horizon") {
      return `${from} stops ${count} at ${point(flow.end)}, ${loss}: ${detail} (${status}).`;
    }
    const dead = !reluflow.activeAt(X, flow.end).length && detail.startsWith("no datum");
    const goes =
      dead && !events.length
        ? "stays where it is: no datum is active, and the neuron is dead"
        : `${dead ? "dies" : "converges"} ${count} at ${point(flow.end)}, ${loss}`;
    const how = status === "sliding" ? ", sliding along a boundary" : "";
    const ranks = Math.max(...sets.map(({ rank }) => rank));
    const global = `the global one has L = ${short(sets[0].loss)}`;
    const rank = !end
      ? "This is no local minimum."
      : end.rank === 1
        ? "This is a global minimum."
        : `This is a local minimum of rank ${end.rank} of ${ranks}; ${global}.`;
    return `${from} ${goes}${how} (${status}). ${rank}`;
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
