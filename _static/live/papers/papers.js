// The map's picture: one data set in the plane, the size of the start from tiny to large, and which
// of the five papers says something about the flow from there.
// needs ../explorer/cut.js
// needs ../explorer/exponentials.js
// needs ../explorer/surfaces.js
// needs ../explorer/flow.js
// needs ../explorer/minima.js
// needs ../explorer/telling.js
// needs ../explorer/time.js
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const { html, paint, text, line, tens } = reluflow;
  const [SMALLEST, LARGEST] = [-1e5, 3]; // of the powers of ten on the slider
  const NEURONS = 10; // of a network whose longest weight is the size of the start
  const DRAWN = 56; // starts that are followed
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const cosine = (u, v) => dot(u, v) / (Math.hypot(...u) * Math.hypot(...v));
  const least = (values) => Math.min(Infinity, ...values);

  const SETS = [
    [
      "Example 5.1 of the first paper",
      [[0.8858, 0.0244], [0.4338, 0.8852], [0.6739, 0.0399], [0.0221, 0.4778], [0.2322, 0.8717]],
      [0.6111, 0.9397, 1.8694, 2.7104, 1.3089],
    ],
    ["Two labels, far apart", [[1, 0.3], [0.5, 1], [-0.8, -0.4], [-0.4, -0.9]], [1, 1, -1, -1]],
    ["Two labels at right angles", [[1, 0.4], [1, 0.1], [-0.4, 1], [-0.6, 0.9]], [1, 1, -1, -1]],
    ["Two labels, close together", [[1, 0.4], [0.2, 1], [-0.2, 1], [-1, 0.3]], [1, 1, -1, -1]],
  ];

  /**
   * What the assumptions of the papers make of data X with labels y, of which only the signs are
   * classes: {fits, spans, positive, mu, opposite, same, different, allowed}. mu is the least cosine
   * between the data times their signs; allowed the logarithm to the base 10 of the largest start
   * that Theorem 1 of the third paper allows, by its proof. The twin of reluflow's setting.py.
   */
  reluflow.assumptions = (X, y) => {
    const Z = X.map((x, i) => x.map((v) => v * Math.sign(y[i])));
    const pairs = X.flatMap((_, i) => X.slice(0, i).map((_, j) => [i, j]));
    const inner = (equal) =>
      pairs.filter(([i, j]) => y[i] * y[j] > 0 === equal).map(([i, j]) => dot(X[i], X[j]));
    const [same, different] = [least(inner(true)), Math.max(-Infinity, ...inner(false))];
    const whole = X.every((x) => Math.hypot(...x) > 0);
    const mu = whole ? Math.min(1, least(pairs.map(([i, j]) => cosine(Z[i], Z[j])))) : -1;
    const centres = [1, -1]
      .map((sign) => Z.filter((_, i) => y[i] * sign > 0))
      .filter((part) => part.length)
      .map((part) => [0, 1].map((c) => part.reduce((sum, z) => sum + z[c], 0)));
    const cap = Math.max(0, least(centres.flatMap((u) => Z.map((z) => cosine(u, z))))) ** 2;
    const sizes = X.map((x) => Math.hypot(...x));
    const [low, high, n] = [least(sizes), Math.max(...sizes), X.length];
    const xi = mu * mu;
    const alignment = (16 * Math.log(n)) / (Math.min(cap, xi) * Math.sqrt(mu) * low);
    const outputs =
      Math.log(Math.min(mu, cap, xi)) + 0.5 * Math.log(mu) + Math.log(low) -
      Math.log(4 * n) - 0.5 * Math.log(NEURONS) - 2 * Math.log(high);
    const waiting = -0.5 * Math.log(NEURONS) - 4 * n * high * alignment;
    return {
      positive: whole && X.every((x) => x.every((v) => v >= 0)) && y.every((v) => v > 0),
      spans: X.some((x) => X.some((z) => x[0] * z[1] !== x[1] * z[0])),
      signs: whole && y.every((v) => v !== 0),
      ...{ mu, same, different },
      allowed: mu > 0 ? Math.min(outputs, waiting) / Math.LN10 : -Infinity,
    };
  };

  /** The slider's scale: even in the logarithm of the power of ten. */
  const sizes = {
    share: (s) => 1 - Math.log1p(LARGEST - s) / Math.log1p(LARGEST - SMALLEST),
    value: (u) => LARGEST - Math.expm1((1 - u) * Math.log1p(LARGEST - SMALLEST)),
    ticks: () => [
      ...[-1e4, -1000, -100, -10].map((s) => [s, tens(s)]),
      [0, "1"],
    ],
  };

  /** Where the flow of one neuron ends from starts of these sizes along the velocity at 0: whether
   * at the least loss. */
  reluflow.ends = (X, y, powers) => {
    const sets = reluflow.minima(X, y);
    const pull = [0, 1].map((c) => X.reduce((sum, x, i) => sum + y[i] * x[c], 0));
    const long = Math.hypot(...pull);
    if (!long) return powers.map(() => false);
    return powers.map((s) => {
      const w = pull.map((v) => (10 ** Math.max(-12, s) * v) / long);
      return reluflow.reached(sets, reluflow.flow(X, y, w), { X, y })?.rank === 1;
    });
  };

  /** What each paper says: {name, page, bars: [[from, to, kind]], says(s)} in powers of ten. */
  function speakers(X, y) {
    const { positive, spans, signs, mu, same, different, allowed } = reluflow.assumptions(X, y);
    const all = [SMALLEST, LARGEST];
    const powers = Array.from({ length: DRAWN }, (_, k) => sizes.value((k + 0.5) / DRAWN));
    const good = positive && spans ? reluflow.ends(X, y, powers) : [];
    const computed = (s) => {
      const reached = reluflow.ends(X, y, [s])[0];
      const same = good.every((each) => each === reached);
      return `it is ${reached ? "reached" : "missed"} ${same ? "at every size" : "from this size"}`;
    };
    const edge = (k) => sizes.value(k / DRAWN);
    const orthogonal = signs && same > 0 && different <= 0;
    const plain = y.every((v) => Math.abs(v) === 1);
    const [above, below] = [y.some((v) => v > 0), y.some((v) => v < 0)];
    const read = above && below ? "+1 or −1" : above ? "+1" : "−1";
    const note = plain || !signs ? "" : ` It takes each label as its sign, ${read}.`;
    const why = positive ? "they do not span the plane" : "it asks for data and labels that are not negative";
    return [
      {
        name: "Support vectors",
        page: "01_support_vectors",
        bars: good.reduce((bars, best, k) => {
          const kind = best ? "best" : "missed";
          if (bars.at(-1)?.[2] === kind) bars.at(-1)[1] = edge(k + 1);
          else bars.push([edge(k), edge(k + 1), kind]);
          return bars;
        }, []),
        says: (s) =>
          !(positive && spans)
            ? `is silent: ${why}.`
            : `– Paper: a tiny start finds the global minimum. Computed: ${computed(s)}.`,
      },
      {
        name: "Magnitude and angle",
        page: "02_magnitude_angle",
        bars: [],
        says: () => "is silent: it asks for Gaussian data with the labels of a teacher, not for a few points.",
      },
      {
        name: "Early alignment",
        page: "03_early_alignment",
        bars: signs && allowed > SMALLEST ? [[SMALLEST, allowed, "says"]] : [],
        says(s) {
          if (!(mu > 0 && signs)) return "is silent: equal labels have to make acute angles and different ones obtuse angles.";
          const most = tens(allowed > -10 ? allowed : Math.floor(allowed));
          return s <= allowed
            ? `says into which cone each neuron turns first. It allows starts up to ${most}.`
            : `is silent: with ${NEURONS} neurons its proof allows starts up to ${most} only.`;
        },
      },
      {
        name: "Orthogonally separable",
        page: "04_orthogonal_separability",
        bars: orthogonal ? [[...all, "says"]] : [],
        says: (s) =>
          orthogonal
            ? `says where neurons point in the end${s < -3 ? "" : "; it asks for a small start, and we found that every balanced one, its two layers equally long, will do"}.`
            : "is silent: equal labels have to make acute angles, different ones right angles or more.",
      },
      {
        name: "Margin maximization",
        page: "05_margin_maximization",
        bars: signs ? [[...all, "later"]] : [],
        says: () =>
          signs
            ? "says what the end is like, once the loss is small; the start does not matter."
            : "is silent: a label 0 is no class.",
      },
    ].map((row, k) => (k < 2 ? row : { ...row, says: (s) => row.says(s) + note }));
  }

  function build(box, first, keep) {
    let state = first;
    let [told, stale] = [[], false];
    const sides = html("div", { class: "sides" });
    const [left, right, list] = [html("div"), html("div"), html("ul", { class: "papers" })];
    const head = html("p", { class: "controls" });
    box.append(head, sides);
    sides.append(left, right);
    const presets = reluflow.chooser(head, "Data", [...SETS.map(([name]) => name), "Your own: drag a datum"], (k) => {
      if (SETS[k]) change({ ...state, X: SETS[k][1], y: SETS[k][2] }, true);
      keep(state);
    });
    presets.options[SETS.length].disabled = true;
    const inputs = reluflow.inputs(left, {
      state: () => state,
      move(i, x) {
        presets.value = SETS.length;
        change({ ...state, X: state.X.map((each, k) => (k === i ? x : each)) });
      },
      done: () => keep(state),
    });
    const chart = reluflow.chart(right, {
      label: "For each paper the sizes of the start of which it speaks",
      high: 300,
      x: sizes,
      y: { share: (v) => 1 - v / 5, value: (u) => 5 - 5 * u, ticks: () => [] },
      names: ["size of the start", ""],
      draw,
    });
    const [bars, mark] = [chart.layer(), chart.layer()];
    const slider = reluflow.slider(right, {
      label: "Start",
      over: sizes,
      value: state.size,
      told: (s) => tens(s > -10 ? s : Math.round(s)),
      change: (size) => change({ ...state, size }),
    });
    slider.input.addEventListener("change", () => keep(state));
    const key = (kind, told) => html("span", {}, html("i", { class: `bar ${kind}` }), ` ${told}`);
    const bar = [key("best", "reaches the global minimum"), key("missed", "misses it"), key("says", "the paper speaks"), key("later", "of the end only")];
    const data = [key("positive", "label above 0"), key("negative", "below 0")];
    right.append(html("p", { class: "key" }, ...bar));
    left.append(html("p", { class: "key" }, ...data));
    box.append(list);
    list.setAttribute("aria-live", "polite");

    function draw(frame) {
      const high = (frame.bottom - frame.top) / 5;
      paint(
        bars,
        ...told.flatMap(({ name, bars: found }, k) => {
          const top = frame.top + k * high;
          const drawn = found.map(([from, to, kind]) => {
            const [x, end] = [frame.to([from, 0])[0], frame.to([to, 0])[0]];
            const wide = Math.max(0, end - x) + 0.5;
            return reluflow.mark("rect", { class: `bar ${kind}`, x, y: top + high / 2, width: wide, height: high / 2 - 6 });
          });
          return [...drawn, text({ at: [frame.left, top + high / 4 + 2], told: name, left: true })];
        }),
      );
      const [x] = frame.to([state.size, 0]);
      paint(mark, line("moment", [x, frame.top], [x, frame.bottom]));
    }

    function change(next, fit = false) {
      const other = next.X !== state.X || next.y !== state.y;
      state = next;
      stale ||= other || !told.length;
      if (stale) inputs.data(fit);
      // Many flows from many starts: they wait for the drag to rest.
      reluflow.atEase(list, () => {
        if (stale) told = speakers(state.X, state.y);
        stale = false;
        chart.redraw();
        list.replaceChildren(
          ...told.map(({ name, page, says }) =>
            html("li", {}, html("a", { href: `${page}.html` }, name), ` ${says(state.size)}`),
          ),
        );
      });
    }
    function show(next) {
      const known = SETS.findIndex(([, X, y]) => reluflow.encode({ X, y }) === reluflow.encode({ X: next.X, y: next.y }));
      presets.value = known < 0 ? SETS.length : known;
      if (next.X.length !== next.y.length) next = { ...next, X: SETS[0][1], y: SETS[0][2] };
      state = { ...next, X: [...next.X] };
      told = [];
      slider.set(state.size);
      change(state, true);
    }
    show(state);
  }

  reluflow.picture("papers", { state: { X: SETS[0][1], y: SETS[0][2], size: -6 }, build });
})();
