// Chapter 2: a student under a teacher, as vectors, in the plane of angle and magnitude, and over time
// between the bounds of the theorems.
"use strict";

(() => {
  const { html, paint, short, within, range, degrees, through, band, arrow, disc, text } = reluflow;
  const { angleBounds, bounds, logTan, orbit, pull } = reluflow.orbits;
  const [LEAST, MOST, HIGH] = [0.03, 3.1, 3.3]; // of |w| / |w*|: of a start, and on the plane
  const DEPTHS = [0, 1, 2, 3, 10]; // factors besides w
  const POINTS = 120;
  const SMALL = 0.3; // of a start, for which Theorem 3.3 has a bound (8)

  function build(box, state, keep) {
    let [course, limits, broken, drawn] = [null, null, false, ""];
    const tip = (phi, v) => [-v * Math.cos(phi), v * Math.sin(phi)];
    const told = () => `${degrees(Math.PI - state.phi)} from the teacher, length ${short(state.v, 3)}`;

    box.append(html("p", {}, "Drag the student, as a vector or as a point of the plane, and choose the number of layers. It always turns to the teacher and comes to its length; the blue bands are what the theorems guarantee at each time. Play shows the way."));
    const controls = html("p", { class: "controls short" });
    box.append(controls);
    const upper = reluflow.cells(box);
    const layers = reluflow.chooser(controls, "Layers", DEPTHS.map((m) => String(m + 1)), (k) => change({ m: DEPTHS[k] }));

    const vectors = reluflow.plane(upper("The teacher w* (blue) and the student w (red)."), {
      label: "Student and teacher as vectors", moves: false,
      first: () => ({ x: 0, y: 0.9, r: HIGH }),
      draw: (frame) => {
        reluflow.grid(lines, frame);
        paint(
          still,
          arrow("one wide", frame.to([0, 0]), frame.to([1, 0])),
          text({ kind: "one", at: frame.to([1.22, 0]), told: "w*" }),
          through("flow dotted", course.phi.map((a, k) => frame.to(tip(a, course.v[k])))),
        );
        byVector.place();
        marks[0](play.value());
      },
    });
    const [lines, still, moving] = ["", "", ""].map(vectors.layer);
    const quarters = range(5, (k) => [(k * Math.PI) / 4, `${180 - 45 * k}°`]);
    const phase = reluflow.chart(upper("The flow. Above the dashed curve |w| falls, below it rises. Grey: other starts."), {
      label: "Angle and magnitude", high: 330,
      x: reluflow.ticked(0, Math.PI + 0.06, quarters), y: reluflow.scale(0, HIGH),
      names: ["angle between student and teacher", "|w| / |w*|"],
      draw: (frame) => {
        const pen = (kind, points) => through(kind, points.map(frame.to));
        const seen = [state.m, frame.right].join();
        if (drawn !== seen) {
          const turns = range(POINTS + 1, (k) => (k * Math.PI) / POINTS);
          paint(
            back,
            ...others().map(({ phi, v }) => pen("other thin", phi.map((a, k) => [a, v[k]]))),
            pen("plain dashed", turns.map((a) => [a, pull(a) ** (1 / (state.m + 1))])),
          );
          drawn = seen; // what does not change while a start is dragged
        }
        paint(
          ground,
          pen("flow", course.phi.map((a, k) => [a, course.v[k]])),
          disc("mark one", { at: frame.to([Math.PI, 1]), r: 6 }),
        );
        byPhase.place();
        marks[1](play.value());
      },
    });
    const [back, ground, point] = [phase.layer(), phase.layer(), phase.layer()];
    const play = reluflow.clock(box, {
      over: reluflow.scale(0, 1), value: 0, told: (t) => `t = ${short(t, 3)}`, show: (t) => (show(t), tell(t)),
    });
    const lower = reluflow.cells(box);
    const names = ["", ""].map(() => html("span"));
    const over = [
      { label: "Magnitude over time", name: "|w| / |w*|", y: reluflow.scale(0, HIGH) },
      { label: "Angle over time", name: "angle to the teacher", y: reluflow.ticked(0, 180, range(5, (k) => [45 * k, `${45 * k}°`])) },
    ].map(({ label, name, y }, which) => {
      const plot = reluflow.chart(lower(names[which]), {
        label, high: 220, x: reluflow.scale(0, 1), y, names: ["time t", name],
        draw: (frame) => {
          const angle = ({ phi }) => phi.map((a) => within(((Math.PI - a) * 180) / Math.PI, -2, 182));
          const [low, high] = which ? [limits.angle.upper, limits.angle.lower].map((phi) => angle({ phi })) : [limits.lower, limits.upper];
          const pen = (values) => values.map((value, k) => frame.to([limits.t[k], value]));
          const own = which ? angle(course) : course.v;
          paint(
            plot.lines,
            band("one", pen(low), pen(high)),
            through("one", pen(low)),
            through("one", pen(high)),
            ...(!which && limits.printed ? [through("plain dashed", pen(limits.printed))] : []),
            through("flow", course.t.map((t, k) => frame.to([t, own[k]]))),
          );
          marks[2 + which](play.value());
        },
      });
      return Object.assign(plot, { lines: plot.layer(), now: plot.layer() });
    });
    const say = reluflow.sentence(box);

    const redo = reluflow.soon(reluflow.coarsely((fine) => begin(fine ? POINTS : POINTS / 4)));
    const change = (next) => {
      Object.assign(state, next);
      state.phi = within(state.phi, 0.02, Math.PI - 0.02);
      state.v = within(state.v, LEAST, MOST);
      redo();
      keep(state);
    };
    const byVector = reluflow.draggable(vectors, {
      label: "The student w(0): the arrow keys move it", at: () => tip(state.phi, state.v), told,
      move: ([a, b]) => change({ phi: Math.atan2(Math.max(b, 1e-3), -a), v: Math.hypot(a, b) }),
    });
    const byPhase = reluflow.draggable(phase, {
      label: "The start, angle and magnitude: the arrow keys move it", at: () => [state.phi, state.v], told,
      move: ([phi, v]) => change({ phi, v }),
    });

    const known = new Map(); // flows that are drawn for comparison, by the number of factors
    function others() {
      if (!known.has(state.m)) {
        known.set(state.m, [0.3, 0.8, 1.4, 2.0, 2.6].flatMap((phi) => [0.15, 3.2].map((v) => orbit(phi, v, state.m, 6))));
      }
      return known.get(state.m);
    }

    /** A clock whose first moments are as long as its last ones. */
    const clockTo = (last) => ({
      share: (t) => Math.log1p(t) / Math.log1p(last),
      value: (u) => Math.expm1(u * Math.log1p(last)),
      ticks: () =>
        [0, 1, 3, 10, 30, 100, 1e3, 1e4, 1e6, 1e8, 1e12, 1e16]
          .filter((t) => t < last)
          .map((t) => [t, t < 1000 ? short(t) : reluflow.tens(Math.log10(t))]),
    });

    function begin(many = POINTS) {
      const { m, phi, v } = state;
      layers.value = DEPTHS.indexOf(m);
      // Until the angle is there, and the length within half a per cent.
      let to = Math.max(7, logTan(phi) + 4);
      do course = orbit(phi, v, m, to);
      while (Math.abs(course.v.at(-1) - 1) > 0.005 && (to += 2) < 30);
      const last = course.t.at(-1);
      const scale = clockTo(last);
      const t = range(many + 1, (k) => scale.value(k / many));
      limits = { t, ...bounds(t, phi, v, m) };
      // (8) of Theorem 3.3, for small starts only
      if (m === 0 && v <= SMALL) limits.printed = t.map((s) => -Math.expm1(-s / 2));
      const sizes = [1, ...course.v];
      limits.angle = angleBounds(t, phi, m, Math.min(...sizes), Math.max(...sizes));
      broken = limits.printed && t.some((each, k) => at(each)[1] > limits.printed[k] * (1 + 1e-3));
      const theorem = m === 0 ? ["3.3", "3.4"] : ["3.8", "3.9"];
      const printed = m < 2 ? (limits.printed ? ". Dashed: the bound (8), which the paper prints for small starts" : "") : limits.printed ? ", as this page repairs it. Dashed: the upper bound as printed" : ", as this page repairs it";
      names[0].textContent = `The magnitude between the bounds of Theorem ${theorem[0]}${printed}.`;
      names[1].textContent = `The angle between the bounds of Theorem ${theorem[1]}; where a bound says less than 0° or more than 180° it is out of sight.`;
      play.rescale(scale);
      play.set(0);
      vectors.redraw();
      phase.redraw();
      for (const plot of over) plot.rescale({ x: { ...scale, share: (time) => scale.share(time) / 1.02 } });
      tell(0);
    }

    /** The angle and the magnitude at a time. */
    function at(time) {
      const found = course.t.findIndex((each) => each >= time * (1 - 1e-12));
      const k = Math.max(1, found < 0 ? course.t.length - 1 : found);
      const part = within((time - course.t[k - 1]) / (course.t[k] - course.t[k - 1]), 0, 1);
      return ["phi", "v"].map((key) => course[key][k - 1] + part * (course[key][k] - course[key][k - 1]));
    }

    const mark = (plot, layer, p) => paint(layer, disc("mark flow", { at: plot.frame().to(p), r: 5 }));
    const marks = [
      (t) => paint(moving, arrow("flow", ...[[0, 0], tip(...at(t))].map(vectors.frame().to))),
      (t) => mark(phase, point, at(t)),
      (t) => mark(over[0], over[0].now, [t, at(t)[1]]),
      (t) => mark(over[1], over[1].now, [t, ((Math.PI - at(t)[0]) * 180) / Math.PI]),
    ];
    const show = (t) => marks.forEach((each) => each(t));

    const tell = (t) => say(() => sentence(t));
    function sentence(now) {
      const t = now || course.t.at(-1); // at the start the end is told
      const { m, phi, v } = state;
      const least = Math.min(...course.v);
      const how = v ** (m + 1) <= pull(phi) ? "rises" : least < Math.min(1, v) * (1 - 1e-9) ? "falls, and comes back" : "falls";
      const printed = !limits.printed
        ? "has no value for a start as long as this"
        : broken ? `starts at ${short(limits.printed[0], 3)}, and the flow passes it` : "holds here";
      const above = m === 0 && limits.printed ? at(1)[1] + Math.expm1(-0.5) : 0;
      const early = above ? ` At t = 1 it is ${short(Math.abs(above), 2)} ${above > 0 ? "above" : "below"} the bound (8) for small starts.` : "";
      const more = m < 2 ? early : ` The upper bound that Theorem 3.8 prints ${printed}; the repaired one holds.`;
      const [angle, size] = at(t);
      return `From ${told()}, the magnitude ${how}.${more} ${now ? "At" : "In the end, at"} t = ${short(t, 3)}${now ? "" : ","} the student has the length ${short(size, 3)} and is ${degrees(Math.PI - angle)} from the teacher.`;
    }

    begin();
  }

  const fits = ({ m, phi, v }) =>
    DEPTHS.includes(m) && phi === within(phi, 0.02, Math.PI - 0.02) && v === within(v, LEAST, MOST);

  reluflow.picture("orbits", { state: { m: 0, phi: 1.05, v: 1.6 }, fits, build });
})();
