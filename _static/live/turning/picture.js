// Chapter 4: neurons turn, grow, and turn again, to the loss e^(-10^6).
"use strict";

(() => {
  const { html, paint, short, tens, within, range, through, disc, text } = reluflow;
  const { follow, following, margins } = reluflow.turning;
  const LENGTHS = [20, 5, 0, -Math.LN10]; // of the start, as -log
  const LAST = 1e6; // log(1/loss)
  const X = [[3, 1], [2, 3], [4, 7], [-5, 2], [-5, -1], [-8, 4]];
  const LABELS = [1, 1, 1, -1, -1, -1];
  const EXAMPLES = [X, [[7.8, -1.4], ...X.slice(1)], [X[0], X[1], [-2.8, 7], ...X.slice(3)]];
  const ACTS = ["Act 1: turning, while all are tiny", "Act 2: growing along the sum of a label's data", "Act 3: turning to the max-margin vector"];
  const wide = (depth) => Math.asinh(depth) / Math.LN10; // a logarithm that goes through 0
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const colour = (label) => (label > 0 ? "two" : "one");

  /** The shortest w with w.x >= 1 for all x, null where there is none: on one datum or on two. */
  function maxMargin(X) {
    const alone = X.map((x) => x.map((v) => v / dot(x, x)));
    const pairs = X.flatMap((a, i) =>
      X.slice(i + 1).map((b) => {
        const det = a[0] * b[1] - a[1] * b[0];
        return [(b[1] - a[1]) / det, (a[0] - b[0]) / det];
      }),
    );
    const fit = [...alone, ...pairs].filter((w) => X.every((x) => dot(w, x) >= 1 - 1e-9));
    return fit.length ? fit.reduce((a, b) => (Math.hypot(...b) < Math.hypot(...a) ? b : a)) : null;
  }

  function build(box, state, keep) {
    const [Y, SIGNS] = [state.y, state.s];
    let [run, shares, best, broken] = [null, [], {}, []];
    box.append(html("p", {}, "Drag the data (orange: label 1, blue: label −1), also until they are not orthogonally separable any more, and play. They are where equal labels make acute angles, and different ones right angles or more: then, the theorem says, each neuron that lives ends in the direction of its label's max-margin vector."));
    const controls = html("p", { class: "controls short" });
    box.append(controls);
    const times = html("div"); // the clock: in sight of what it moves
    box.append(times);
    const cell = reluflow.cells(box);
    const lengths = reluflow.chooser(controls, "Length of the start", ["e⁻²⁰", "e⁻⁵", "1", "10"], (k) => change({ length: LENGTHS[k] }));
    const examples = Y.join() === LABELS.join() && reluflow.chooser(controls, "Data", ["orthogonally separable", "not so: x₁ moved", "not so: x₃ moved", "your own"], (k) => k < 3 && change({ X: EXAMPLES[k].map((x) => x.slice()) }));
    const data = reluflow.plane(cell("The data."), {
      label: "The data", moves: false, first: () => ({ x: 0, y: 0, r: 10 }),
      draw: (frame) => {
        reluflow.grid(ground, frame);
        paint(names, ...state.X.map((x, k) => text({ kind: colour(Y[k]), at: frame.to(x).map((v, c) => within(v + [17, -12][c], 12, frame.size - 12)), told: reluflow.named(k) })));
        for (const point of points) point.place();
      },
    });
    const [ground, names] = [data.layer(), data.layer()];
    const ring = reluflow.plane(cell("The neurons: their angle, and outwards the logarithm of their length; rings are dead. Dotted: the sum of a label's data. Dashed: its max-margin vector."), {
      label: "The neurons", moves: false, first: () => ({ x: 0, y: 0, r: 1.6 }), draw: drawRing,
    });
    const [paths, dots] = [ring.layer(), ring.layer()];
    const late = reluflow.chart(cell("How far the neurons that live are from the max-margin vector of their label."), {
      label: "The third act", high: 220,
      x: reluflow.ticked(-0.4, 6.35, [0, 1, ...range(6, (k) => 10 ** (k + 1))].map((v) => [wide(v), v < 100 ? short(v) : tens(Math.log10(v))])), y: reluflow.ticked(0, 180, range(7, (k) => [30 * k, `${30 * k}°`])),
      names: ["log(1/ℓ), of the loss ℓ", "angle to the max-margin vector"], draw: drawLate,
    });
    const [curves, line] = [late.layer(), late.layer()];
    const loss = (share) => {
      const depth = between(run.clock.map((v) => [v]), share)[0];
      return `the loss ℓ = ${depth < 7 ? short(Math.exp(-depth), 3) : tens(-Math.round(depth / Math.LN10))}`;
    };
    const play = reluflow.clock(times, {
      label: "Loss", over: reluflow.scale(0, 1), value: 1, told: (share) => (run ? loss(share) : ""), seconds: 10,
      show: (share) => (show(share), tell(share)),
    });
    const say = reluflow.sentence(box);
    // Some hundred steps of many neurons take longer than a frame: they wait for the drag to rest.
    const slices = reluflow.sliced((found) => begin(found));
    const redo = reluflow.atRest(() => slices(following(...given())), 60);
    const change = (next) => {
      Object.assign(state, next);
      data.redraw();
      box.setAttribute("aria-busy", true);
      redo();
      keep(state);
    };
    const points = Y.map((label, k) =>
      reluflow.draggable(data, {
        label: `The datum ${reluflow.named(k)} with the label ${label}: the arrow keys move it`, kind: colour(label),
        at: () => state.X[k],
        move: (p) => {
          const next = p.map((v) => within(Math.round(v * 100) / 100, -9.5, 9.5));
          if (Math.hypot(...next) >= 0.5) change({ X: state.X.map((x, i) => (i === k ? next : x)) });
        },
      }),
    );

    /** A row of `rows` at a share of the course, between two steps. */
    function between(rows, share) {
      const k = Math.max(1, shares.findIndex((value) => value >= share - 1e-12));
      const part = within((share - shares[k - 1]) / (shares[k] - shares[k - 1] || 1), 0, 1);
      return rows[k].map((v, i) => rows[k - 1][i] + part * (v - rows[k - 1][i]));
    }

    const at = (angle, size) => {
      const r = 0.45 + (0.95 * (size + state.length)) / (state.length + 7);
      return [r * Math.cos(angle), r * Math.sin(angle)];
    };
    const alive = (z, j) => state.X.some((x) => Math.cos(z[2 * j]) * x[0] + Math.sin(z[2 * j]) * x[1] > 1e-9 * Math.hypot(...x));
    /** Degrees between a neuron and the max-margin vector of its label. */
    function off(z, j) {
      const goal = best[SIGNS[j]];
      const turn = Math.abs(z[2 * j] - Math.atan2(goal[1], goal[0])) % (2 * Math.PI);
      return (Math.min(turn, 2 * Math.PI - turn) * 180) / Math.PI;
    }
    const of = (label) => state.X.filter((_, i) => Y[i] === label);

    function drawRing(frame) {
      const ray = (kind, u) => through(kind, [0.45, 1.6].map((r) => frame.to(u.map((v) => (r * v) / Math.hypot(...u)))));
      const rays = [1, -1].flatMap((label) => {
        const sum = of(label).reduce((a, b) => [a[0] + b[0], a[1] + b[1]]);
        return [ray(`${colour(label)} dotted`, sum), ...(best[label] ? [ray(`${colour(label)} dashed`, best[label])] : [])];
      });
      const circle = range(73, (k) => frame.to(at((k * Math.PI) / 36, -state.length)));
      const tracks = SIGNS.map((s, j) => through(`${colour(s)} thin`, run.states.map((z) => frame.to(at(z[2 * j], z[2 * j + 1])))));
      paint(paths, through("other thin", circle), ...rays, ...tracks);
      show(play.value());
    }

    function drawLate(frame) {
      const end = run.states.at(-1);
      const seen = run.clock.map((depth, k) => [depth, k]);
      const living = SIGNS.map((s, j) => [s, j]).filter(([s, j]) => alive(end, j) && best[s]);
      paint(
        curves,
        ...living.map(([s, j]) => through(`${colour(s)} thin`, seen.map(([depth, k]) => frame.to([wide(depth), off(run.states[k], j)])))),
      );
      show(play.value());
    }

    const given = () => {
      const z = state.turns.flatMap((turn) => [(turn * Math.PI) / 180, -state.length]);
      return [state.X, Y, SIGNS, z, LAST, 1e-5, 2000];
    };

    function begin(found) {
      run = found;
      box.removeAttribute("aria-busy");
      lengths.value = LENGTHS.indexOf(state.length);
      const example = EXAMPLES.findIndex((X) => `${X}` === `${state.X}`);
      if (examples) examples.value = example < 0 ? 3 : example;
      best = { 1: maxMargin(of(1)), "-1": maxMargin(of(-1)) };
      broken = state.X.flatMap((a, i) =>
        state.X.flatMap((b, j) => (j > i && (Y[i] === Y[j]) !== dot(a, b) > 0 ? [`${reluflow.named(i)} and ${reluflow.named(j)}`] : [])),
      );
      // A course on which everything that moves is seen: as long as what changes most in each step.
      const moved = run.states.slice(1).map((each, k) => Math.max(...each.map((v, i) => Math.abs(v - run.states[k][i]))));
      const sums = moved.reduce((all, step) => [...all, all.at(-1) + step], [0]);
      shares = sums.map((sum) => sum / sums.at(-1));
      play.set(1);
      data.redraw();
      ring.redraw();
      late.redraw();
      tell(1);
    }

    function show(share) {
      const z = between(run.states, share);
      const to = ring.frame().to;
      paint(
        dots,
        ...SIGNS.map((s, j) => disc(`${alive(z, j) ? "mark" : "ring"} ${colour(s)}`, { at: to(at(z[2 * j], z[2 * j + 1])), r: 5 })),
      );
      const depth = wide(between(run.clock.map((v) => [v]), share)[0]);
      paint(line, through("plain dotted", [0, 180].map((v) => late.frame().to([depth, v]))));
    }

    /** Which act it is: the longest neuron has not doubled, the loss is not e^(-2), or it is. */
    const stage = (z, share) =>
      between(run.clock.map((v) => [v]), share)[0] > 2 ? 2 : Math.max(...SIGNS.map((_, j) => z[2 * j + 1])) < Math.LN2 - state.length ? 0 : 1;
    const tell = (share) => say(() => sentence(share));
    function sentence(share) {
      const z = between(run.states, share);
      const more = broken.length > 2 ? ` and ${broken.length - 2} more pair${broken.length > 3 ? "s" : ""}` : "";
      const held = broken.length
        ? `Not orthogonally separable: ${broken.slice(0, 2).join(", ")}${more}. The theorem is silent.`
        : "Orthogonally separable.";
      const dead = SIGNS.filter((_, j) => !alive(z, j)).length;
      const ends = [1, -1].flatMap((label) => {
        const group = range(SIGNS.length, (j) => j).filter((j) => SIGNS[j] === label && alive(z, j));
        const name = label > 0 ? "1" : "−1";
        if (!best[label]) return [`no vector has a margin on all data of label ${name}`];
        if (!group.length) return [];
        const far = Math.max(...group.map((j) => off(z, j)));
        return [`those of label ${name} are ${far < 0.01 ? "less than 0.01" : `at most ${short(far, 2)}`}° from its max-margin vector`];
      });
      const unfit = margins(state.X, Y, SIGNS, run.states.at(-1)).flatMap((q, i) => (q < 1e-6 ? [reluflow.named(i)] : []));
      const why = {
        there: "",
        slow: ` The flow is followed to ${loss(1)} only: from there it needs too many steps.`,
        rests: ` The loss falls no further than to ${short(Math.exp(-run.clock.at(-1)), 3)}: there nothing moves any more, and ${unfit.join(", ")} ${unfit.length > 1 ? "do" : "does"} not get the right sign.`,
      };
      const act = ACTS[stage(z, share)];
      return `${held}${share < 1 ? ` ${act}.` : ""} At ${loss(share)}, ${dead} of ${SIGNS.length} neurons are dead; ${ends.join(", ")}.${why[run.ends]}`;
    }

    begin(follow(...given()));
  }

  const fits = ({ X, y, turns, s, length }) =>
    X.length === y.length &&
    turns.length === s.length &&
    s.length <= 12 &&
    [...y, ...s].every((sign) => Math.abs(sign) === 1) &&
    [1, -1].every((label) => y.includes(label)) &&
    X.every((x) => Math.hypot(...x) >= 0.5 && x.every((v) => Math.abs(v) < 10)) &&
    LENGTHS.includes(length);

  // Six directions, both signs in each.
  const turns = range(12, (j) => 22.2 + 60 * (j >> 1));
  const s = range(12, (j) => (j % 2 ? -1 : 1));
  reluflow.picture("turning", { state: { X, y: LABELS, length: 20, turns, s }, fits, build });
})();
