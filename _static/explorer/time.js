// The time of a flow, its loss against it, and the space of the data beside that of the weights.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const { mark: element, paint, line, disc, text, through, axes } = reluflow;
  const MOST_HANDLES = 12;

  /** The times that a clock shows of a flow: nearly to its limit, even at first and logarithmic
   * later, from the time on in which the quickest part of it has just begun. */
  reluflow.timeScale = ({ segments, until, events, status }) => {
    const start = segments.at(-1)?.t0 ?? 0; // of a flow that is not followed there is no piece
    const rests = status === "converged" || status === "sliding";
    const last = (rests ? start + 0.4 * (until - start) : until) || 1;
    const rates = segments.flatMap(({ rates }) => rates);
    const quick = Math.min(0.2 / Math.max(...rates, 1e-300), (events[0]?.t || Infinity) / 3);
    const unit = Math.max(1e-9 * last, Math.min(last / 8, quick));
    const whole = Math.log1p(last / unit);
    const value = (u) => (u >= 1 ? last : unit * Math.expm1(u * whole));
    const ticks = () => {
      const found = [[0, "0"]];
      const first = Math.ceil(Math.log10(unit));
      const step = Math.max(1, Math.ceil((Math.log10(last) - first) / 6));
      for (let k = first; 10 ** k <= last; k += step) {
        found.push([10 ** k, k < -3 || k > 4 ? reluflow.tens(k) : reluflow.short(10 ** k)]);
      }
      return found;
    };
    return { share: (t) => Math.log1p(t / unit) / whole, value, ticks, last };
  };

  /** A scale of losses from the first to the last: logarithmic where they differ much. */
  reluflow.lossScale = (first, last) => {
    const [low, high] = [Math.min(first, last), Math.max(first, last)];
    if (!(high > 0)) return reluflow.scale(0, 1);
    const bottom = Math.max(low, 1e-6 * high);
    if (high > 20 * bottom) return reluflow.scale(bottom / 1.3, high * 1.3, true);
    return reluflow.scale(Math.max(0, low - 0.15 * (high - low)), high + 0.1 * (high - low) || 1);
  };

  /** The loss along a flow on a chart: a curve and its events by name. */
  reluflow.lossCurve = (frame, flow, { X, y }, time, events) => {
    const within = (p) => [p[0], Math.min(frame.bottom + 3, p[1] || 0)];
    const at = (t) => within(frame.to([t, reluflow.loss(X, y, reluflow.at(flow, t))]));
    const times = Array.from({ length: 101 }, (_, k) => time.value(k / 100));
    times.push(...events.map(({ t }) => t).filter((t) => t <= time.last));
    const drawn = [through("curve", times.sort((s, t) => s - t).map(at))];
    let right = -Infinity;
    for (const { name, t } of events) {
      if (!(t <= time.last)) continue;
      const place = at(t);
      drawn.push(disc("event", { at: place, r: 4.5 }));
      if (place[0] - right < 16) continue;
      right = place[0];
      drawn.push(text({ at: [place[0] + 6, place[1] - 11], told: name }));
    }
    return drawn;
  };

  /** The moment that a clock shows, on such a chart. */
  reluflow.moment = (frame, t, loss) => {
    const [x, y] = frame.to([t, loss]);
    const at = [x, Math.min(frame.bottom, Math.max(frame.top, y || 0))];
    return [line("moment", [x, frame.top], [x, frame.bottom]), disc("now", { at, r: 6 })];
  };

  /** The neuron among the data: its line, the side where it is active, and where w points. */
  reluflow.neuron = (frame, w) => {
    const size = Math.hypot(...w);
    if (!size) return [];
    const unit = w.map((v) => v / size);
    const along = [unit[1], -unit[0]];
    const corners = reluflow.seenCone(frame, [along, along.map((v) => -v)]);
    const drawn = corners.length
      ? [element("polygon", { class: "half", points: corners.map((p) => p.join()).join(" ") })]
      : [];
    const seen = reluflow.seenLine(frame, [0, 0], along);
    if (seen) drawn.push(line("neuron", ...seen));
    const from = frame.to([0, 0]);
    const tip = [from[0] + 56 * unit[0], from[1] - 56 * unit[1]];
    const turn = (Math.atan2(-unit[1], unit[0]) * 180) / Math.PI;
    drawn.push(line("pull", from, tip));
    const transform = `translate(${tip.join(" ")}) rotate(${turn})`;
    drawn.push(element("path", { class: "head", d: "M8 0L-5 -6L-5 6Z", transform }));
    return drawn;
  };

  /**
   * The space of the data: {label, state(): {X, y}, move(i, x), done()}. Few data are dragged, of
   * many only points are drawn. Returns {plane, show(w), data()}: show a weight, and new data.
   */
  reluflow.inputs = (box, { state, move, done }) => {
    let [w, handles] = [[0, 0], []];
    const plane = reluflow.plane(box, {
      label: "The plane of the data, with the line of the neuron: the arrow keys move it",
      first: () => reluflow.viewOf([[0, 0], ...state().X, ...state().X.map((x) => [-x[0] / 2, -x[1] / 2])]),
      draw,
    });
    const [side, ground, points, words] = ["", "", "", ""].map(plane.layer);
    const none = () => !w[0] && !w[1]; // there is no neuron
    const kind = (i) => {
      const { X, y } = state();
      const active = none() || X[i][0] * w[0] + X[i][1] * w[1] > 0;
      return `datum ${y[i] > 0 ? "plus" : y[i] < 0 ? "minus" : "zero"} ${active ? "on" : "off"}`;
    };
    const told = (i) => {
      const { X, y } = state();
      const active = kind(i).endsWith("on") ? ", active" : ", not active";
      return `${reluflow.point(X[i])}, y = ${reluflow.short(y[i])}${none() ? "" : active}`;
    };
    function show(next) {
      w = next;
      reluflow.drawn(side, stand);
    }
    function stand() {
      paint(side, ...reluflow.neuron(plane.frame(), w));
      const { X } = state();
      handles.forEach(({ group, place }, i) => {
        if (group.seen !== kind(i)) group.setAttribute("class", `handle ${(group.seen = kind(i))}`);
        place();
      });
      if (!handles.length) {
        const at = (i) => ({ at: plane.frame().to(X[i]), r: 4 });
        paint(points, ...X.map((_, i) => disc(kind(i), at(i))));
      }
    }
    function draw(frame) {
      const { X, y } = state();
      const scale = axes(frame, ["x₁", "x₂"]);
      paint(ground, ...scale.drawn);
      const discs = X.map((x) => ({ at: frame.to(x), r: 8 }));
      const names = handles.map((_, i) => ({
        places: reluflow.beside(discs[i]),
        texts: (at) => [{ kind: "", at, told: `${reluflow.named(i)} → ${reluflow.short(y[i], 3)}` }],
      }));
      paint(words, ...reluflow.words(frame, [...names, ...scale.labels], discs));
      show(w);
    }
    /** Draw new data; handles are kept where their number is the same, for one may be held. */
    function data(fit = true) {
      const { X } = state();
      const many = X.length > MOST_HANDLES ? 0 : X.length;
      if (many !== handles.length) {
        for (const { group } of handles) group.remove();
        handles = X.slice(0, many).map((_, i) =>
          reluflow.draggable(plane, {
            label: `The datum ${reluflow.named(i)}: the arrow keys move it`,
            at: () => state().X[i],
            told: () => told(i),
            move: (x) => move(i, x),
            done,
          }),
        );
        paint(points);
      }
      if (fit) plane.reset();
      else plane.redraw();
    }
    return { plane, show, data };
  };
})();
