// The plane of weights: loss as shading, boundaries, cells and minima, and the flow over them.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const SVG = "http://www.w3.org/2000/svg";
  const BANDS = 14;
  const MOST_LABELS = 12; // with more boundaries the cells are too narrow for words
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const live = (x) => x[0] !== 0 || x[1] !== 0;
  const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

  /** x₁₂ for the datum 11. */
  reluflow.named = (j) => `x${[...String(j + 1)].map((digit) => SUBSCRIPTS[digit]).join("")}`;

  function element(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /** How the square `view` {x, y, r} of the plane lies on a picture of so many pixels. */
  reluflow.frame = ({ x, y, r }, size) => {
    const scale = size / (2 * r);
    const clamp = (v) => Math.max(-1e5, Math.min(1e5, v));
    return {
      size,
      perPixel: 1 / scale,
      to: (w) => [clamp((w[0] - x + r) * scale), clamp((y + r - w[1]) * scale)],
      from: (p) => [x - r + p[0] / scale, y + r - p[1] / scale],
    };
  };

  /** Shade the canvas by the loss: the darker the smaller, in bands. */
  reluflow.shade = (canvas, frame, { X, y }, least) => {
    const cells = Math.min(240, Math.ceil(frame.size / 2));
    canvas.width = canvas.height = cells;
    const [red, green, blue] = getComputedStyle(canvas).getPropertyValue("--ground").split(",");
    const image = canvas.getContext("2d").createImageData(cells, cells);
    const unit = reluflow.loss(X, y, [0, 0]) - least || 1;
    for (let row = 0; row < cells; row++) {
      for (let column = 0; column < cells; column++) {
        const pixel = [column, row].map((v) => ((v + 0.5) * frame.size) / cells);
        const above = (reluflow.loss(X, y, frame.from(pixel)) - least) / unit;
        const band = Math.round(4 * Math.log2(1 + 20 * Math.max(0, above)));
        const shade = 0.62 * Math.max(0, 1 - band / (2 * BANDS));
        image.data.set([red, green, blue, 255 * shade], 4 * (row * cells + column));
      }
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  };

  const line = (kind, p, q) =>
    element("line", { class: kind, x1: p[0], y1: p[1], x2: q[0], y2: q[1] });

  const words = (kind, [x, y], told) =>
    element(
      "text",
      { class: kind, x, y, "text-anchor": "middle", "dominant-baseline": "central" },
      told,
    );

  /** The coordinates of lines that mark a scale of round numbers. */
  function ticks(from, to) {
    const rough = (to - from) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((v) => v * power >= rough);
    const found = [];
    for (let k = Math.ceil(from / step); k * step <= to; k++) found.push(k * step);
    return found;
  }

  function axes(frame) {
    const { size } = frame;
    const [low, high] = [frame.from([0, size]), frame.from([size, 0])];
    const told = (v) => String(Number(v.toPrecision(6)));
    const marks = [words("", [size - 14, size - 24], "w₁"), words("", [36, 14], "w₂")];
    for (const v of ticks(low[0], high[0])) {
      const [at] = frame.to([v, 0]);
      marks.push(line("axis", [at, 0], [at, size]), words("tick", [at, size - 9], told(v)));
    }
    for (const v of ticks(low[1], high[1])) {
      const [, at] = frame.to([0, v]);
      const label = words("tick", [5, at], told(v));
      label.setAttribute("text-anchor", "start");
      marks.push(line("axis", [0, at], [size, at]), label);
    }
    return marks;
  }

  /** The active data at w, {1, 3}. */
  const activeAt = (X, w) => X.map((_, j) => j).filter((j) => dot(X[j], w) > 0);
  reluflow.activeAt = activeAt;

  /** The boundaries, with the names of their data, each on its active side. */
  function boundaries(frame, { X, y }) {
    const middle = frame.from([frame.size / 2, frame.size / 2]);
    const reach = frame.size * frame.perPixel;
    const all = reluflow.surfaces(
      X,
      y,
      X.map((_, j) => j).filter((j) => live(X[j])),
    );
    const taken = [];
    return all.flatMap(({ normal, plus, minus }) => {
      const along = [-normal[1], normal[0]];
      const nearest = dot(along, middle);
      const at = (s) => frame.to([along[0] * s, along[1] * s]);
      const drawn = [line("boundary", at(nearest - 2 * reach), at(nearest + 2 * reach))];
      if (all.length > MOST_LABELS) return drawn;
      const inside = ([px, py]) =>
        px > 30 && py > 26 && px < frame.size - 30 && py < frame.size - 40;
      const free = (p) =>
        inside(p) && taken.every((q) => Math.hypot(p[0] - q[0], p[1] - q[1]) > 44);
      const places = [];
      for (let k = 40; k > 4; k--)
        places.push(at(nearest + (k / 40) * reach), at(nearest - (k / 40) * reach));
      const place = places.find(free);
      if (!place) return drawn;
      taken.push(place);
      for (const [side, data] of [
        [1, plus],
        [-1, minus],
      ]) {
        if (!data.length) continue;
        const out = (s) => [place[0] + side * s * normal[0], place[1] - side * s * normal[1]];
        drawn.push(line("side", place, out(10)));
        drawn.push(words("", out(22), data.map(reluflow.named).join(" ")));
      }
      return drawn;
    });
  }

  /** The active data of each cell that has room for words, in its middle. */
  function cells(frame, { X }, sets) {
    const taken = sets.map(({ w }) => frame.to(w));
    const found = new Map();
    const steps = 40;
    for (let row = 2; row < steps - 2; row++) {
      for (let column = 2; column < steps - 2; column++) {
        const pixel = [column, row].map((v) => ((v + 0.5) * frame.size) / steps);
        const told = activeAt(X, frame.from(pixel))
          .map((j) => j + 1)
          .join(", ");
        const [count, px, py] = found.get(told) ?? [0, 0, 0];
        found.set(told, [count + 1, px + pixel[0], py + pixel[1]]);
      }
    }
    if (found.size > 2 * MOST_LABELS) return [];
    return [...found]
      .filter(([told, [count]]) => count > 12 + 3 * told.length)
      .map(([told, [count, px, py]]) => {
        const at = [px / count, py / count];
        const covered = taken.some(
          (p) => Math.abs(p[0] - at[0]) < 34 && Math.abs(p[1] - at[1]) < 18,
        );
        return words("cell", [at[0], at[1] + (covered ? 26 : 0)], `{${told}}`);
      });
  }

  /** The pieces of the sets of minima, and a disc with its rank at each point. */
  function minima(frame, sets) {
    const far = 4 * frame.size * frame.perPixel;
    const drawn = [];
    for (const { w, rank, dimension, directions, rays } of [...sets].reverse()) {
      const best = rank === 1 ? " best" : "";
      const away = (v, s = far + Math.hypot(...w)) => [w[0] + s * v[0], w[1] + s * v[1]];
      if (dimension === 2) {
        drawn.push(
          element("polygon", {
            class: "dead",
            points: cone(rays, frame)
              .map((p) => p.join())
              .join(" "),
          }),
        );
      } else if (dimension === 1) {
        const [v] = directions;
        const ends = rays.length === 1 ? [[0, 0], away(rays[0])] : clipped(w, v, rays, away);
        drawn.push(line(`several${best}`, ...ends.map(frame.to)));
      } else {
        drawn.push(
          element("circle", {
            class: `minimum${best}`,
            cx: frame.to(w)[0],
            cy: frame.to(w)[1],
            r: 10,
          }),
        );
        drawn.push(words("rank", frame.to(w), String(rank)));
      }
    }
    return drawn;
  }

  /** The ends of the line w + span(v) in the cone between two rays; all of it without rays. */
  function clipped(w, v, rays, away) {
    const ends = [away([-v[0], -v[1]]), away(v)];
    for (const ray of rays) {
      const across = v[0] * ray[1] - v[1] * ray[0];
      const s = -(w[0] * ray[1] - w[1] * ray[0]) / across;
      const hit = [w[0] + s * v[0], w[1] + s * v[1]];
      if (Number.isFinite(s) && dot(hit, ray) > 0) ends[s > 0 ? 1 : 0] = hit;
    }
    return ends;
  }

  function cone(rays, frame) {
    const s = frame.size;
    if (!rays.length)
      return [
        [0, 0],
        [s, 0],
        [s, s],
        [0, s],
      ];
    const [a, b] = rays;
    const half = Math.hypot(a[0] + b[0], a[1] + b[1]) < 1e-9;
    const between = half ? [-a[1], a[0]] : [a[0] + b[0], a[1] + b[1]];
    const long = Math.hypot(...between);
    const far = 8 * s * frame.perPixel + Math.hypot(...frame.from([s / 2, s / 2]));
    return [[0, 0], a, [between[0] / long, between[1] / long], b]
      .map((ray, k) => (k ? [ray[0] * far, ray[1] * far] : ray))
      .map(frame.to);
  }

  /** All of the plane that does not change while the start is dragged. */
  reluflow.ground = (frame, data, sets) => {
    const hatch = element(
      "pattern",
      { id: "explorer-hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      element("path", { d: "M-2 2L2 -2M0 8L8 0M6 10L10 6" }),
    );
    return [
      element("defs", {}, hatch),
      ...axes(frame),
      ...boundaries(frame, data),
      ...cells(frame, data, sets),
      ...minima(frame, sets),
    ];
  };

  /** The path of a flow, its events by number, and its end. */
  reluflow.course = (frame, flow, events) => {
    const points = reluflow.path(flow).map(frame.to);
    const drawn = [
      element("path", { class: "path", d: `M${points.map((p) => p.join()).join("L")}` }),
    ];
    drawn.push(...arrow(points));
    const numbered = new Map();
    for (const { number, w } of events) {
      const at = frame.to(w).map(Math.round).join();
      numbered.set(at, [...(numbered.get(at) ?? []), number]);
    }
    for (const [at, numbers] of numbered) {
      const [cx, cy] = at.split(",").map(Number);
      const told = numbers.length > 1 ? `${numbers[0]}–${numbers.at(-1)}` : numbers[0];
      drawn.push(element("circle", { class: "event", cx, cy, r: 4.5 }));
      if (numbered.size <= MOST_LABELS) drawn.push(words("", [cx + 13, cy - 10], String(told)));
    }
    const [cx, cy] = frame.to(flow.end);
    drawn.push(element("circle", { class: "end", cx, cy, r: 14 }));
    return drawn;
  };

  /** An arrow head in the middle of a path that is long enough to see. */
  function arrow(points) {
    const steps = points
      .slice(1)
      .map((p, k) => Math.hypot(p[0] - points[k][0], p[1] - points[k][1]));
    const all = steps.reduce((a, b) => a + b, 0);
    if (all < 40) return [];
    let [gone, k] = [0, 0];
    while (gone + steps[k] < all / 2) gone += steps[k++];
    const [p, q] = [points[k], points[k + 1]];
    const turn = (Math.atan2(q[1] - p[1], q[0] - p[0]) * 180) / Math.PI;
    const at = `translate(${(p[0] + q[0]) / 2} ${(p[1] + q[1]) / 2}) rotate(${turn})`;
    return [element("path", { class: "arrow", d: "M8 0L-6 -7L-6 7Z", transform: at })];
  }

  /** The start, which can be dragged. */
  reluflow.handle = () =>
    element(
      "g",
      {
        class: "start",
        tabindex: 0,
        role: "slider",
        "aria-label": "The start w(0): the arrow keys move it",
      },
      element("circle", { class: "grip", r: 24 }),
      element("circle", { class: "dot", r: 8 }),
    );
})();
