// The plane of weights: loss as shading, boundaries, cells and minima, and the flow over them.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const MOST_LABELS = 12; // with more boundaries the cells are too narrow for words
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const live = (x) => x[0] !== 0 || x[1] !== 0;
  const { mark: element, line, disc, axes } = reluflow;

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
    const [drawn, labels] = [[], []];
    for (const { normal, plus, minus } of all) {
      const along = [-normal[1], normal[0]];
      const seen = reluflow.seenLine(frame, [0, 0], along);
      if (!seen) continue;
      drawn.push(line("boundary", ...seen));
      if (all.length > MOST_LABELS) continue;
      const nearest = dot(along, middle);
      const at = (s) => frame.to([along[0] * s, along[1] * s]);
      // Far from the origin first, where all boundaries meet.
      const places = Array.from({ length: 80 }, (_, k) => nearest + (k / 40 - 1) * reach)
        .sort((s, t) => Math.abs(t) - Math.abs(s))
        .map(at);
      const sides = [
        [1, plus],
        [-1, minus],
      ].filter(([, data]) => data.length);
      const out = (p, s) => [p[0] + s * normal[0], p[1] - s * normal[1]];
      const texts = (p) =>
        sides.map(([side, data]) => {
          const told = data.map(reluflow.named).join(" ");
          const [x, y] = reluflow.extent("", told);
          const far = 13 + x * Math.abs(normal[0]) + (y - 2) * Math.abs(normal[1]);
          return { kind: "", at: out(p, side * far), told };
        });
      const marks = (p) => sides.map(([side]) => line("side", p, out(p, side * 10)));
      labels.push({ places, texts, marks, room: 12 });
    }
    return { drawn, labels };
  }

  /** The labels of the cells: the active data of each that has room for words, as near to its middle as can be. */
  reluflow.cells = (frame, { X }) => {
    const found = new Map();
    const steps = 40;
    for (let row = 2; row < steps - 2; row++) {
      for (let column = 2; column < steps - 2; column++) {
        const pixel = [column, row].map((v) => ((v + 0.5) * frame.size) / steps);
        const told = activeAt(X, frame.from(pixel))
          .map((j) => j + 1)
          .join(", ");
        found.set(told, [...(found.get(told) ?? []), pixel]);
      }
    }
    if (found.size > 2 * MOST_LABELS) return [];
    return [...found]
      .filter(([told, pixels]) => pixels.length > 12 + 3 * told.length)
      .map(([told, pixels]) => {
        const middle = [0, 1].map((c) => pixels.reduce((s, p) => s + p[c], 0) / pixels.length);
        const off = (p) => Math.hypot(p[0] - middle[0], p[1] - middle[1]);
        const near = pixels.sort((p, q) => off(p) - off(q)).slice(0, pixels.length / 2);
        const texts = (at) => [{ kind: "cell", at, told: `{${told}}` }];
        return { places: [middle, ...near], texts };
      });
  };

  /** Whether a point in pixels lies on the plane, as far as the edge of a disc. */
  const onPlane = ({ size }, at, r = 0) => at.every((v) => v > -r && v < size + r);

  /** The pieces of the sets of minima, and a disc at each point, its rank in it or next to it. */
  function minima(frame, sets) {
    const [drawn, labels, discs] = [[], [], []];
    for (const { w, rank, dimension, directions, rays } of [...sets].reverse()) {
      const best = rank === 1 ? " best" : "";
      if (dimension === 2) {
        const points = reluflow.seenCone(frame, rays).map((p) => p.join());
        if (!points.length) continue;
        drawn.push(element("polygon", { class: "dead", points: points.join(" ") }));
      } else if (dimension === 1) {
        const [v] = directions;
        const seen =
          rays.length === 1
            ? reluflow.seenLine(frame, [0, 0], rays[0], 0)
            : reluflow.seenLine(frame, w, v, ...clipped(w, v, rays));
        if (seen) drawn.push(line(`several${best}`, ...seen));
      } else {
        const each = { at: frame.to(w), r: 10 };
        if (!onPlane(frame, each.at, each.r)) continue;
        drawn.push(disc(`minimum${best}`, each));
        discs.push(each);
        const told = String(rank);
        labels.unshift({
          places: [each.at, ...reluflow.beside(each)],
          texts: (at) => [{ kind: at === each.at ? "rank" : "", at, told }],
        });
      }
    }
    return { drawn, labels, discs };
  }

  /** Between which s the line w + s v is in the cone between two rays. */
  function clipped(w, v, rays) {
    const ends = [-Infinity, Infinity];
    for (const ray of rays) {
      const across = v[0] * ray[1] - v[1] * ray[0];
      const s = -(w[0] * ray[1] - w[1] * ray[0]) / across;
      const hit = [w[0] + s * v[0], w[1] + s * v[1]];
      if (Number.isFinite(s) && dot(hit, ray) > 0) ends[s > 0 ? 1 : 0] = s;
    }
    return ends;
  }

  /** All of the plane that does not change while the start is dragged: what is drawn, the labels
   * before those of the flow, and after them, where there are any, and the discs that they keep off. */
  reluflow.ground = (frame, data, sets) => {
    const hatch = element(
      "pattern",
      { id: "explorer-hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      element("path", { d: "M-2 2L2 -2M0 8L8 0M6 10L10 6" }),
    );
    const [scale, lines, points] = [axes(frame), boundaries(frame, data), minima(frame, sets)];
    return {
      drawn: [element("defs", {}, hatch), ...scale.drawn, ...lines.drawn, ...points.drawn],
      labels: [...points.labels, ...scale.labels, ...lines.labels],
      after: [],
      discs: points.discs,
    };
  };

  /** The path of a flow, its events by name, and its end. */
  reluflow.course = (frame, flow, events, many) => {
    const lines = reluflow.seenPath(frame, flow, many);
    const d = lines.map((points) => `M${points.map((p) => p.join()).join("L")}`).join("");
    const [drawn, labels, discs] = [[element("path", { class: "path", d })], [], []];
    drawn.push(...arrow(lines, discs));
    const numbered = new Map();
    for (const { name, w } of events) {
      const pixel = frame.to(w);
      if (!onPlane(frame, pixel)) continue;
      const at = pixel.map(Math.round).join();
      numbered.set(at, [...(numbered.get(at) ?? []), name]);
    }
    for (const [place, numbers] of numbered) {
      const each = { at: place.split(",").map(Number), r: 4.5 };
      const told = numbers.length > 1 ? `${numbers[0]}–${numbers.at(-1)}` : numbers[0];
      drawn.push(disc("event", each));
      discs.push(each);
      if (numbered.size > MOST_LABELS) continue;
      labels.push({
        places: reluflow.beside(each),
        texts: (at) => [{ kind: "number", at, told }],
      });
    }
    const end = { at: frame.to(flow.end), r: 14, hollow: true };
    if (onPlane(frame, end.at, end.r)) {
      drawn.push(disc("end", end));
      discs.push(end);
    }
    return { drawn, labels, discs };
  };

  /** An arrow head in the middle of the longest line that is seen of a path, if it is long. */
  function arrow(lines, discs) {
    const gaps = (points) =>
      points.slice(1).map((p, k) => Math.hypot(p[0] - points[k][0], p[1] - points[k][1]));
    const sum = (values) => values.reduce((a, b) => a + b, 0);
    const all = lines.map((points) => sum(gaps(points)));
    const most = Math.max(...all);
    if (!(most >= 40)) return [];
    const points = lines[all.indexOf(most)];
    const steps = gaps(points);
    let [gone, k] = [0, 0];
    while (gone + steps[k] < most / 2) gone += steps[k++];
    const [p, q] = [points[k], points[k + 1]];
    const share = (most / 2 - gone) / steps[k];
    const turn = (Math.atan2(q[1] - p[1], q[0] - p[0]) * 180) / Math.PI;
    const at = [0, 1].map((c) => p[c] + share * (q[c] - p[c]));
    discs.push({ at, r: 8 });
    const transform = `translate(${at.join(" ")}) rotate(${turn})`;
    return [element("path", { class: "arrow", d: "M8 0L-6 -7L-6 7Z", transform })];
  }
})();
