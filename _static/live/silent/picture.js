// Chapter 5: one neuron serves two data, and a silent one could take over a share.
"use strict";

(() => {
  const { html, paint, short, within, range, through, arrow, disc, text } = reluflow;
  const { shortest, size, takenOver } = reluflow.silent;
  const DEAD = [0, -0.4]; // a place below both dashed lines, for the ring of a neuron without a share
  const MOST = 0.99; // of datum 2: with all of it neuron 1 could let go altogether

  function build(box, state, keep) {
    box.append(html("p", {}, "The optimum is the shortest θ that gives both data the margin 1. Theorem 3.2 says that the limit of the flow need not be even a local one: here it ends with neuron 1 alone. Neuron 2 is silent on both data, so that nothing pulls on it and the flow can never use it. Give it a share of the datum x₂ (the slider is no time), and see whether θ gets shorter; then move the data."));
    const cell = reluflow.cells(box);
    const ratio = (share) => size(takenOver(state.X, share)) / size(takenOver(state.X, 0));
    const plane = reluflow.plane(cell("The data (blue), neuron 1 (red) and neuron 2 (black, or white where it is dark), as vectors u = v w. Below both dashed lines a neuron is silent (ring)."), {
      label: "Data and neurons", moves: false, first: () => ({ x: 0, y: 1.9, r: 2.5 }),
      draw: (frame) => {
        reluflow.grid(axes, frame);
        paint(
          still,
          ...state.X.map((x) => through("other thin dashed", [-6, 6].map((c) => frame.to([-c * x[1], c * x[0]])))),
          ...state.X.map((x, k) => text({ kind: "one", at: frame.to(x).map((v, c) => v + [16, -14][c]), told: reluflow.named(k) })),
        );
        for (const point of points) point.place();
        stand();
      },
    });
    const [axes, still, moving] = ["", "", ""].map(plane.layer);
    const hill = reluflow.chart(cell("|θ|² = 2 (|u₁| + |u₂|), with margin 1 on both data."), {
      label: "The length of θ", high: 330, x: reluflow.scale(0, 1.02), y: reluflow.scale(0, 1.2),
      names: ["share that neuron 2 takes over", "|θ|², over that of the limit"],
      draw: (frame) => {
        const shares = range(100, (k) => (MOST * k) / 99);
        paint(
          ground,
          through("other dashed", [[0, 1], [1.02, 1]].map(frame.to)),
          through("flow", shares.map((share) => frame.to([share, ratio(share)]))),
        );
        mark();
      },
    });
    const [ground, now] = [hill.layer(), hill.layer()];
    reluflow.clock(box, {
      label: "Share", over: reluflow.scale(0, MOST), value: state.share, seconds: 4,
      told: (share) => `${Math.round(100 * share)} % of x₂`,
      show: (share) => {
        state.share = share;
        show();
        tell();
        keep(state);
      },
    });
    const say = reluflow.sentence(box);
    const points = [0, 1].map((k) =>
      reluflow.draggable(plane, {
        label: `The datum ${reluflow.named(k)}: the arrow keys move it`, kind: "one", at: () => state.X[k],
        move: (p) => {
          // Both data on the upper side, where one neuron can be active on both.
          const next = [within(p[0], -2, 2), within(p[1], 0.1, 2)];
          const X = state.X.map((x, i) => (i === k ? next : x));
          if (!shortest(X, 1, 1)) return;
          state.X = X;
          begin();
          keep(state);
        },
      }),
    );

    function stand() {
      const [first, second] = takenOver(state.X, state.share);
      const to = plane.frame().to;
      paint(
        moving,
        arrow("flow", to([0, 0]), to(first)),
        ...(state.share > 0 ? [arrow("plain", to([0, 0]), to(second))] : [disc("ring plain", { at: to(DEAD), r: 6 })]),
      );
    }
    const mark = () =>
      paint(now, disc("mark flow", { at: hill.frame().to([state.share, ratio(state.share)]), r: 7 }));
    const show = () => (stand(), mark());

    function tell() {
      const helps = ratio(1e-6) < 1 - 1e-15;
      const local = helps
        ? "Even the smallest share makes θ shorter: the limit is not a local optimum."
        : "A small share makes θ longer: this neuron does not help.";
      const [before, after] = [0, state.share].map((share) => short(size(takenOver(state.X, share)), 3));
      say(() => `${local} At the limit |\u2060θ\u2060|² = ${before}; now it is ${after}.`);
    }

    function begin() {
      plane.redraw();
      // As high as the curve comes, at either end.
      hill.rescale({ y: reluflow.scale(0, Math.max(1.2, 1.08 * Math.max(ratio(MOST / 2), ratio(MOST)))) });
      tell();
    }
    begin();
  }

  const fits = ({ X, share }) =>
    X.length === 2 &&
    X.every((x) => Math.abs(x[0]) <= 2 && x[1] === within(x[1], 0.1, 2)) &&
    share === within(share, 0, MOST) &&
    shortest(X, 1, 1) !== null;

  reluflow.picture("silent", { state: { X: [[1, 0.25], [-1, 0.25]], share: 0 }, fits, build });
})();
