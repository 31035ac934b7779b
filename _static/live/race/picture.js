// Chapter 5: a race between two coordinates. Theorem 5.1's datum is (1, 1), and its start has equal
// weights: a ball on the top of a hill.
"use strict";

(() => {
  const { html, paint, short, tens, within, range, through, disc } = reluflow;
  const { race, value } = reluflow.race;
  const DEPTHS = [2, 3, 4, 6];
  const LAST = Math.log(1e6 * Math.LN10); // log log(1/L) at L = 10^(-10^6)
  const EXAMPLES = [
    ["Theorem 5.1: an exact tie", { x: [1, 1], start: [0.5, 0.5] }],
    ["its datum a hundredth off", { x: [1, 1.01], start: [0.5, 0.5] }],
    ["its start a hundredth off", { x: [1, 1], start: [0.51, 0.5] }],
  ];

  function build(box, state, keep) {
    let [run, top] = [null, 1];
    box.append(html("p", {}, "A diagonal network, Φ(x) = α₁ᵐ x₁ + α₂ᵐ x₂, grows on one datum. The value V of a direction is the |θ|² that it needs for the output 1 on the datum; the optimum has the smallest. Theorem 5.1 says that for m > 2 the limit of the flow need not be even a local one. Move the datum or the start a little off the diagonal, or take one of the examples, and play."));
    const controls = html("p", { class: "controls short" });
    box.append(controls);
    for (const [name, next] of EXAMPLES) reluflow.button(controls, name, () => change({ m: 3, ...next }));
    const cell = reluflow.cells(box);
    const depth = reluflow.chooser(controls, "Depth m", DEPTHS.map(String), (k) => change({ m: DEPTHS[k] }));
    const logs = reluflow.ticked(-1, 3, range(5, (k) => [k - 1, short(10 ** (k - 1))]));
    const datum = reluflow.chart(cell("The datum x, with the label 1."), {
      label: "The datum", high: 330, x: reluflow.scale(0, 2), y: reluflow.scale(0, 2), names: ["x₁", "x₂"],
      draw: () => datumAt.place(),
    });
    const plane = reluflow.chart(cell("The flow. From the dotted line both coordinates go on at one rate."), {
      label: "The weights of the two coordinates", high: 330, x: logs, y: logs, names: ["α₁", "α₂"],
      draw: (frame) => {
        // alpha_i^(2-m) in the ratio of the x_i: both are infinite at once.
        const ridge = state.m > 2 ? Math.log10(state.x[0] / state.x[1]) / (2 - state.m) : null;
        const levels = range(41, (k) => run.start + (k / 40) * (LAST - run.start));
        paint(
          path,
          ...(ridge === null ? [] : [through("plain dotted", [[-1 + ridge, -1], [3 + ridge, 3]].map(frame.to))]),
          through("flow", levels.map((level) => frame.to(run.at(level).map((v) => v / Math.LN10)))),
        );
        startAt.place();
        mark(play.value());
      },
    });
    const [path, point] = [plane.layer(), plane.layer()];
    const hill = reluflow.chart(cell("The value V of a direction: the problem asks for the smallest."), {
      label: "The hill", high: 220, x: reluflow.ticked(0, 90, range(7, (k) => [15 * k, `${15 * k}°`])), y: reluflow.scale(0, 1.15),
      names: ["direction of (α₁, α₂)", "V, over its largest value"],
      draw: (frame) => {
        const values = range(46, (a) => value((a * Math.PI) / 90, state.x, state.m));
        top = Math.max(...values);
        paint(ground, through("plain", values.map((v, a) => frame.to([2 * a, v / top]))));
        roll(play.value());
      },
    });
    const [ground, ball] = [hill.layer(), hill.layer()];
    const loss = (level) => {
      const log = -Math.exp(level) / Math.LN10;
      return `L = ${log > -3 ? short(10 ** log, 3) : tens(Math.round(log))}`;
    };
    const play = reluflow.clock(box, {
      label: "Loss", over: reluflow.scale(0, 1), value: 1, told: loss, seconds: 8,
      show: (level) => (show(level), tell(level)),
    });
    const say = reluflow.sentence(box);
    const redo = reluflow.soon(() => begin());
    const change = (next) => {
      Object.assign(state, next);
      redo();
      keep(state);
    };
    // The picture is for fingers: a value near a round one is meant to be round.
    const round = (v) => Math.round(v * 1000) / 1000;
    const datumAt = reluflow.draggable(datum, {
      label: "The datum x: the arrow keys move it", kind: "one", at: () => state.x,
      move: (p) => change({ x: p.map((v) => within(round(v), 0.1, 2)) }),
    });
    const startAt = reluflow.draggable(plane, {
      label: "The start: the arrow keys move it", at: () => state.start.map(Math.log10), told: () => reluflow.point(state.start),
      move: (p) => change({ start: p.map((v) => within(round(10 ** within(v, -1, 1)), 0.1, 10)) }),
    });

    function begin() {
      const { m, x, start } = state;
      depth.value = DEPTHS.indexOf(m);
      run = race(start, x, m);
      const scale = reluflow.scale(run.start, LAST);
      play.rescale(scale);
      play.set(LAST);
      for (const plot of [datum, plane, hill]) plot.redraw();
      tell(LAST);
    }

    const angleAt = (level) => {
      const [a, b] = run.at(level);
      return Math.atan(Math.exp(b - a));
    };

    const mark = (level) =>
      paint(point, disc("mark flow", { at: plane.frame().to(run.at(level).map((v) => v / Math.LN10)), r: 5 }));
    function roll(level) {
      const angle = angleAt(level);
      const at = hill.frame().to([(angle * 180) / Math.PI, value(angle, state.x, state.m) / top]);
      paint(ball, disc("mark flow", { at, r: 7 }));
    }
    const show = (level) => (mark(level), roll(level));

    function tell(level) {
      const { x, m } = state;
      const best = Math.min(value(0, x, m), value(Math.PI / 2, x, m));
      say(() => `${sentence()} At ${loss(level)} the value V is ${short(value(angleAt(level), x, m) / top, 3)} of its largest; the smallest possible is ${short(best / top, 3)}.`);
    }

    function sentence() {
      const { x, m } = state;
      const wins = run.winner;
      if (wins === null) {
        return m > 2
          ? "From here both coordinates grow at one rate: the flow stays on the top of the hill, and its limit is not a local optimum. This is Theorem 5.1. Almost every change of the datum or of the start ends it."
          : "At depth 2 with equal entries both coordinates keep their ratio, and every direction has the same value.";
      }
      const global = x[wins] >= x[1 - wins];
      const kind = global ? "a global optimum" : "a local optimum only, since the other entry of the datum is larger";
      return `Coordinate ${wins + 1} wins the race: the limit is ${kind}. ${parting()}`;
    }

    /** The loss at which the loser's share has fallen to half of what it was. */
    function parting() {
      const ratio = (level) => {
        const now = run.at(level);
        return now[1 - run.winner] - now[run.winner];
      };
      const goal = Math.min(0, ratio(run.start)) - Math.LN2;
      if (ratio(LAST) > goal) return "At the end of the slider the two have not parted yet.";
      let [low, high] = [run.start, LAST];
      for (let i = 0; i < 60; i++) {
        const middle = (low + high) / 2;
        if (ratio(middle) > goal) low = middle;
        else high = middle;
      }
      return `The loser's share of the winner has fallen to half at ${loss(high)}.`;
    }

    begin();
  }

  const fits = ({ m, x, start }) =>
    DEPTHS.includes(m) &&
    [x, start].every((pair) => pair.length === 2) &&
    x.every((v) => v === within(v, 0.1, 2)) &&
    start.every((v) => v === within(v, 0.1, 10));

  reluflow.picture("race", { state: { m: 3, x: [1, 1], start: [0.5, 0.5] }, fits, build });
})();
