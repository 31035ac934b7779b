// Chapter 3: where a neuron turns while all weights are tiny, as a polygon, and how the true flow comes
// to it as the start shrinks.
"use strict";

(() => {
  const { html, paint, short, tens, within, range, through, band, arrow, disc, text } = reluflow;
  const { align, directionAt, network, separation, steps } = reluflow.polygon;
  const SIGNS = [1, -1];
  const SCALES = [1, 2, 4, 8, 87];
  const WIDE = 4;
  const STOPS = ["slides", "two ways"]; // ends at which the direction stays where it is
  const [FINE, COARSE] = [[80, 1e-6], [30, 1e-4]]; // times and tolerance of the true flow
  const turnOf = (u) => (Math.atan2(u[1], u[0]) * 180) / Math.PI;
  const unit = (u) => u.map((v) => v / Math.hypot(...u));

  function build(box, state, keep) {
    const Y = state.y;
    const colour = (k) => (Y[k] > 0 ? "two" : "one");
    let [path, last, limit, real, room] = [null, 1, [], [], [0, 1]];
    let bound = null;
    box.append(html("p", {}, "Drag the data (orange: label 1, blue: label −1) and the neuron (red). The line from it is its path in the limit of ever smaller weights. Theorem 1 says that where equal labels make acute angles and different ones obtuse angles, each neuron soon serves exactly the data of one label, or is dead."));
    const controls = html("p", { class: "controls short" });
    box.append(controls);
    const cell = reluflow.cells(box);
    const signs = reluflow.chooser(controls, "Sign of its output weight", ["+", "−"], (k) => change({ s: SIGNS[k] }));
    const scales = reluflow.chooser(controls, "Start ε", SCALES.map((e) => tens(-e)), (k) => change({ e: SCALES[k] }));

    const plane = reluflow.plane(cell("Shaded: where a neuron is active on exactly the data of label 1 (orange), of label −1 (blue), on none (grey)."), {
      label: "Data and a neuron", moves: false, first: () => ({ x: 0, y: 0, r: WIDE }), draw: drawPlane,
    });
    const [axes, still, moving] = ["", "", ""].map(plane.layer);
    const over = reluflow.chart(cell("The neuron's direction: in the limit (solid), and the true flow of a network of this one neuron, started at length ε (dashed)."), {
      label: "Direction over time", high: 330, x: reluflow.scale(0, 1), y: reluflow.scale(0, 1),
      names: ["time t", "direction"], draw: drawTurn,
    });
    const [lines, now] = [over.layer(), over.layer()];
    const play = reluflow.clock(box, {
      over: reluflow.scale(0, 1), value: 1, told: (t) => `t = ${short(t, 3)}`, show: (t) => show(t),
    });
    const say = reluflow.sentence(box);
    const redo = reluflow.soon(reluflow.coarsely((fine) => begin(...(fine ? FINE : COARSE))));
    const change = (next) => {
      Object.assign(state, next);
      redo();
      keep(state);
    };
    const near = (p) => p.map((v) => within(Math.round(v * 100) / 100, 0.05 - WIDE, WIDE - 0.05));
    const points = Y.map((label, k) =>
      reluflow.draggable(plane, {
        label: `The datum ${reluflow.named(k)} with the label ${label}: the arrow keys move it`, kind: colour(k),
        at: () => state.X[k],
        move: (p) => Math.hypot(...near(p)) > 0.2 && change({ X: state.X.map((x, i) => (i === k ? near(p) : x)) }),
      }),
    );
    const neuron = reluflow.draggable(plane, {
      label: "The neuron w(0): the arrow keys move it", at: () => state.w,
      move: (p) => Math.hypot(...near(p)) > 0.2 && change({ w: near(p) }),
    });

    /** The sectors of the plane between the boundaries, each with how it is shaded. */
    function sectors(frame) {
      const edges = state.X.flatMap((x) => [turnOf([-x[1], x[0]]), turnOf([x[1], -x[0]])]).sort((a, b) => a - b);
      const at = (turn) => [2 * WIDE * Math.cos((turn * Math.PI) / 180), 2 * WIDE * Math.sin((turn * Math.PI) / 180)];
      return edges.flatMap((from, k) => {
        const to = k + 1 < edges.length ? edges[k + 1] : edges[0] + 360;
        if (to - from < 1e-9) return [];
        const middle = at((from + to) / 2);
        const on = state.X.map((x) => x[0] * middle[0] + x[1] * middle[1] > 0);
        const exactly = (label) => on.every((each, i) => each === (Y[i] === label));
        const kind = exactly(1) ? "two" : exactly(-1) ? "one" : on.some(Boolean) ? null : "other";
        if (kind === null) return [];
        return [band(kind, [frame.to([0, 0])], range(9, (j) => frame.to(at(from + ((to - from) * j) / 8))))];
      });
    }

    /** The place beside a point that is farthest from a line of points, all in pixels. */
    function farthest(at, line) {
      const gap = ([x, y]) => Math.min(...line.slice(1).map(([c, d], k) => {
        const [a, b] = line[k];
        const share = within(((x - a) * (c - a) + (y - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2 || 1), 0, 1);
        return Math.hypot(x - a - share * (c - a), y - b - share * (d - b));
      }));
      return reluflow.beside({ at, r: 10 }).slice(0, 8).reduce((best, each) => (gap(each) > gap(best) + 1 ? each : best));
    }

    function drawPlane(frame) {
      const corners = path.pieces.map(({ from }) => from);
      const { from, along } = path.pieces.at(-1);
      const goesOn = Math.hypot(...along) > 0 && !STOPS.includes(path.ends);
      const far = goesOn ? [[from[0] + 9 * along[0], from[1] + 9 * along[1]]] : [];
      const line = [...corners, ...far].map(frame.to);
      const apart = (x) => (line.length > 1 ? farthest(frame.to(x), line) : frame.to(x).map((v, c) => v + [17, -12][c]));
      reluflow.grid(axes, frame);
      paint(
        still,
        ...sectors(frame),
        ...state.X.map((x) => through("other thin dashed", [-9, 9].map((c) => frame.to([-c * x[1], c * x[0]])))),
        ...state.X.map((x, k) => text({ kind: colour(k), at: apart(x), told: reluflow.named(k) })),
        through("plain", line),
        ...corners.slice(1).map((at, k) => disc(path.ends === "dead" && k === corners.length - 2 ? "ring plain" : "mark plain", { at: frame.to(at), r: 4.5 })),
      );
      for (const each of [...points, neuron]) each.place();
      point(play.value());
    }

    function drawTurn(frame) {
      const mark = bound && bound < last ? [[bound, room[0]], [bound, room[1]]].map(frame.to) : null;
      paint(
        lines,
        ...(mark ? [through("other thin dashed", mark), text({ kind: "tick", at: [mark[1][0] - 5, mark[1][1] + 10], told: "our bound", right: true })] : []),
        through("plain", limit.map(frame.to)),
        through("flow dashed", real.map(frame.to)),
      );
      stand(play.value());
    }

    function begin(many, tolerance) {
      const { X, w, s, e } = state;
      signs.value = SIGNS.indexOf(s);
      scales.value = SCALES.indexOf(e);
      path = align(X, Y, w, s);
      const mu = separation(X, Y);
      // In the cone of the other label no bound on the time is the same for all starts.
      const wrong = path.pieces[0].active.every((on, i) => on === (Y[i] === -s));
      bound = mu > 0 && !wrong ? (2 / Math.min(...X.map((x) => Math.hypot(...x)))) * Math.log(2 / mu) : null;
      last = within(Math.ceil(Math.max(1.3 * path.t, bound ? 1.1 * bound : 0, 2)), 2, 25);
      const times = range(many + 1, (k) => (k / many) * last);
      const states = steps(network(X, Y, [s]), [Math.atan2(w[1], w[0]), -e * Math.LN10], times, tolerance);
      const held = STOPS.includes(path.ends);
      // Angles without jumps, beside those of the true flow.
      const exact = times.map((t) => turnOf(held && t >= path.t ? path.pieces.at(-1).from : directionAt(path, t)));
      for (let k = 1; k < exact.length; k++) exact[k] += 360 * Math.round((exact[k - 1] - exact[k]) / 360);
      const first = exact[0] - (states[0][0] * 180) / Math.PI;
      limit = exact.map((v, k) => [times[k], v]);
      real = states.map((z, k) => [times[k], (z[0] * 180) / Math.PI + first]);
      const all = [...limit, ...real].map(([, v]) => v);
      // Round edges, which stay as they are in most of a drag.
      room = [30 * Math.floor(Math.min(...all) / 30 - 0.3), 30 * Math.ceil(Math.max(...all) / 30 + 0.3)];
      const every = room[1] - room[0] > 200 ? 90 : 30;
      const least = Math.ceil(room[0] / every);
      const ticks = range(Math.floor(room[1] / every) - least + 1, (k) => [(least + k) * every, `${String((least + k) * every).replace("-", "−")}°`]);
      play.rescale(reluflow.scale(0, last));
      play.set(last);
      plane.redraw();
      over.rescale({ x: reluflow.scale(0, last), y: reluflow.ticked(...room, ticks) });
      say(() => sentence(mu));
    }

    function sentence(mu) {
      const { s, e } = state;
      const when = `t = ${short(path.t, 3)}`;
      const ways = {
        home: `it is active on exactly the data of its own label from ${when} on`,
        dead: path.t > 0 ? `it has lost its last datum and is dead at ${when}` : "it has no datum and is dead from the start",
        other: "it keeps another set of data",
        slides: `the data hold it on a boundary from ${when} on`,
        "two ways": `at ${when} it comes to a place that two flows leave`,
      };
      const bends = path.pieces.length - 1;
      const first = bends > 1 ? `, first at t = ${short(path.pieces[1].t, 3)}` : "";
      // What the proof of Theorem 1 prints: with its maximum for a minimum it is the same for all starts.
      const proof = mu > 0 ? (16 * Math.log(Y.length)) / (mu ** 2.5 * Math.min(...state.X.map((x) => Math.hypot(...x)))) : 0;
      const late = path.ends === "home" && path.t > proof && mu > 0 ? ` The time that the proof prints, ${short(proof, 3)}, is too short here.` : "";
      const speaks = mu > 0 ? `(A1) holds with μ = ${short(mu, 3)} (equal labels attract, different ones repel), and the theorem speaks` : `(A1) does not hold, μ = ${short(mu, 3)}, and the theorem is silent`;
      const wrong = path.pieces[0].active.every((on, i) => on === (Y[i] === -s));
      const by = !(mu > 0) ? "" : wrong ? " It starts in the cone of the other label, for which no bound on the time is the same for all starts." : ` Our bound on this time is ${short(bound, 3)}.`;
      const apart = Math.max(0, ...real.map(([, v], k) => Math.abs(v - limit[k][1])));
      const far = apart < 0.01 ? "less than 0.01" : `at most ${short(apart, 2)}`;
      return `The neuron's path ${["does not bend", "bends once", "bends twice"][bends] ?? `bends ${bends} times`}${first}, and ${ways[path.ends]}.${by}${late} ${speaks}. At ε = ${tens(-e)} the true flow is ${far}° away from it, up to t = ${short(last, 3)}.`;
    }

    function point(t) {
      const held = STOPS.includes(path.ends) && t >= path.t;
      const u = held ? unit(path.pieces.at(-1).from) : directionAt(path, t);
      const to = plane.frame().to;
      paint(moving, arrow("plain", to([0, 0]), to(u.map((v) => 1.2 * v))));
    }
    function stand(t) {
      const k = Math.min(Math.round((t / last) * (limit.length - 1)), limit.length - 1);
      paint(now, disc("mark plain", { at: over.frame().to(limit[k]), r: 5 }));
    }
    const show = (t) => (point(t), stand(t));

    begin(...FINE);
  }

  const fits = ({ X, y, w, s, e }) =>
    X.length === y.length &&
    y.every((label) => SIGNS.includes(label)) &&
    w.length === 2 &&
    [...X, w].every((x) => Math.hypot(...x) > 0.2 && x.every((v) => Math.abs(v) < WIDE)) &&
    SIGNS.includes(s) &&
    SCALES.includes(e);

  const X = [[2, 0], [2, 1], [-1, -1], [-1, -3]];
  reluflow.picture("polygon", { state: { X, y: [1, 1, -1, -1], w: [-1, -2.5], s: 1, e: 2 }, fits, build });
})();
