// The places where a picture is drawn: a plane that can be moved, a chart, and points to drag.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const { html, svg: element, mark, paint } = reluflow;
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const tints = new Map(); // of the ground, by theme
  let clips = 0; // charts so far: what each shows ends at its frame
  const FARTHEST = 1e5; // pixels: a picture has fewer digits than a number

  const line = (kind, p, q) =>
    mark("line", { class: kind, x1: p[0], y1: p[1], x2: q[0], y2: q[1] });
  const disc = (kind, { at, r }) => mark("circle", { class: kind, cx: at[0], cy: at[1], r });
  const text = ({ kind = "", at, told, left, right }) =>
    mark(
      "text",
      {
        class: kind,
        x: at[0],
        y: at[1],
        "text-anchor": left ? "start" : right ? "end" : "middle",
        "dominant-baseline": "central",
      },
      told,
    );
  /** Points as text, without those that are nearer than a pixel to the one before. */
  function joined(points) {
    let [told, last] = ["", [Infinity, Infinity]];
    points.forEach((p, k) => {
      const far = Math.abs(p[0] - last[0]) + Math.abs(p[1] - last[1]) >= 1;
      if (!far && k < points.length - 1) return;
      told += `${Math.round(100 * p[0]) / 100},${Math.round(100 * p[1]) / 100} `;
      last = p;
    });
    return told.trim();
  }
  /** A line through points in pixels. */
  const through = (kind, points) => mark("polyline", { class: kind, points: joined(points) });
  /** What lies between two such lines. */
  const band = (kind, low, high) =>
    mark("polygon", { class: `band ${kind}`, points: joined([...low, ...high.toReversed()]) });
  /** An arrow between two points in pixels. */
  function arrow(kind, tail, tip) {
    const [right, down] = [tip[0] - tail[0], tip[1] - tail[1]];
    const head = Math.min(10, Math.hypot(right, down) / 2);
    const turn = (Math.atan2(down, right) * 180) / Math.PI;
    const d = `M0 0L${-head} ${head / 2}L${-head} ${-head / 2}Z`;
    const transform = `translate(${tip.join(" ")}) rotate(${turn})`;
    return mark("g", { class: `vector ${kind}` }, line("", tail, tip), mark("path", { d, transform }));
  }

  /**
   * Shade a canvas by a function f of the plane, the stronger the smaller it is within what is seen,
   * and return the path of its level curves. Where it hardly differs there are none. With fewer
   * `cells` a picture that moves is drawn in less time.
   */
  function shade(canvas, frame, f, cells = 96) {
    const values = new Float64Array((cells + 1) ** 2);
    let [low, high] = [Infinity, -Infinity];
    for (let k = 0; k < values.length; k++) {
      const [column, row] = [k % (cells + 1), Math.floor(k / (cells + 1))];
      const value = f(frame.from([(column / cells) * frame.size, (row / cells) * frame.size]));
      values[k] = value;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const flat = !(high - low > 1e-11 * Math.abs(high));
    canvas.width = canvas.height = cells + 1;
    // Asked once for each theme: to ask has the whole page's style computed.
    const { theme } = document.documentElement.dataset;
    if (!tints.has(theme)) tints.set(theme, reluflow.colour(canvas, "--ground").split(","));
    const [red, green, blue] = tints.get(theme);
    const context = canvas.getContext("2d");
    const image = context.createImageData(cells + 1, cells + 1);
    values.forEach((value, k) => {
      const shown = flat ? 0.3 : 0.55 * (1 - Math.sqrt((value - low) / (high - low)));
      image.data.set([red, green, blue, 255 * shown], 4 * k);
    });
    context.putImageData(image, 0, 0);
    if (flat) return "";
    const levels = Array.from({ length: 11 }, (_, k) => low + (high - low) * ((k + 1) / 12) ** 2);
    return curves(values, cells, frame.size / cells, levels);
  }

  /** Level curves of values on a grid, by marching squares, as the path of an SVG. */
  function curves(values, cells, wide, levels) {
    const around = [[0, 0], [1, 0], [1, 1], [0, 1]];
    let d = "";
    for (let row = 0; row < cells; row++) {
      for (let column = 0; column < cells; column++) {
        const k = row * (cells + 1) + column;
        const corners = [values[k], values[k + 1], values[k + cells + 2], values[k + cells + 1]];
        const [low, high] = [Math.min(...corners), Math.max(...corners)];
        for (const level of levels) {
          if (!(low < level && level <= high)) continue;
          const met = [];
          for (let k = 0; k < 4; k++) {
            const [p, q] = [corners[k], corners[(k + 1) % 4]];
            if (p < level === q < level) continue;
            const s = (level - p) / (q - p);
            const [[a, b], [c, e]] = [around[k], around[(k + 1) % 4]];
            met.push([column + a + s * (c - a), row + b + s * (e - b)]);
          }
          met.forEach((p, k) => {
            d += `${k % 2 ? "L" : "M"}${(p[0] * wide).toFixed(1)} ${(p[1] * wide).toFixed(1)}`;
          });
        }
      }
    }
    return d;
  }

  /** The axes of a plane as {drawn, labels}, the labels for `reluflow.placed`. */
  function axes(frame, names = ["w₁", "w₂"]) {
    const { size } = frame;
    const [low, high] = [frame.from([0, size]), frame.from([size, 0])];
    const [drawn, labels] = [[], []];
    const label = (places, kind, told, left = false) =>
      labels.push({ places, texts: (at) => [{ kind, at, told, left }] });
    label([[size - 14, size - 26]], "", names[0]);
    label([[40, 14]], "", names[1]);
    for (const [v, told] of reluflow.steps(low[0], high[0])) {
      const [at] = frame.to([v, 0]);
      drawn.push(line("axis", [at, 0], [at, size]));
      label([[at, size - 9]], "tick", told);
    }
    for (const [v, told] of reluflow.steps(low[1], high[1])) {
      const [, at] = frame.to([0, v]);
      drawn.push(line("axis", [0, at], [size, at]));
      label([[5, at]], "tick", told, true);
    }
    return { drawn, labels };
  }

  /** The words on a plane, with their marks. */
  const words = (frame, labels, discs) =>
    reluflow
      .placed(frame, labels, discs)
      .flatMap(({ texts, place, label }) => [
        ...(label.marks?.(place) ?? []),
        ...texts.map(text),
      ]);

  /** Draw the axes of a plane without names into a layer, where it does not have them already. */
  function grid(layer, frame) {
    const seen = [frame.from([0, 0]), frame.size].join();
    if (layer.seen === seen) return;
    layer.seen = seen;
    const { drawn, labels } = axes(frame, ["", ""]);
    paint(layer, ...drawn, ...words(frame, labels, []));
  }

  /** How wide an element is, in pixels, measured only when its look has changed, and `redraw` then. */
  function widthOf(svg, redraw) {
    let known = 0;
    reluflow.onLook(svg, () => {
      known = svg.clientWidth || 360;
      redraw();
    });
    return () => (known ||= svg.clientWidth || 360);
  }

  /**
   * A square of the plane that the reader moves by mouse, wheel, two fingers and keys.
   *
   * {label, first(): the view that shows all, draw(frame), tap(point): a click or tap takes the
   * point of the plane there, canvas: whether there is one below, moves: false for a view that
   * stays}. Returns {svg, canvas, box, layer(): a group for drawings, frame(), view(), look(view),
   * reset(), redraw(), zoom(by), at(event)}. draw is called at each look, size and theme.
   */
  function plane(box, { label, first, draw, tap = () => {}, canvas = false, moves = true }) {
    const svg = element("svg", { tabindex: 0, role: "group", "aria-label": label });
    const ground = canvas ? html("canvas", { "aria-hidden": true }) : null;
    const square = html("div", { class: "plane" }, ...(ground ? [ground] : []), svg);
    box.append(square);
    let view = null;
    const width = widthOf(svg, () => view && redraw());
    const frame = () => reluflow.frame((view ??= first()), width());
    const redraw = () =>
      reluflow.drawn(svg, () => {
        const now = frame();
        if (svg.shown?.size !== now.size) svg.setAttribute("viewBox", `0 0 ${now.size} ${now.size}`);
        svg.shown = { ...view, size: now.size };
        draw(now);
      });
    const look = (next) => {
      view = next;
      redraw();
    };
    const reset = () => look(first());
    /** The point of the plane under the pointer, to as many digits as a pixel has. */
    const at = (event) => {
      const side = reluflow.boxOf(svg);
      const { from, perPixel } = frame();
      const digits = Math.max(0, 1 - Math.floor(Math.log10(perPixel)));
      const p = from([event.clientX - side.left, event.clientY - side.top]);
      return p.map((v) => Number(v.toFixed(Math.min(digits, 100))) + 0);
    };
    const layer = (kind = "") => svg.appendChild(element("g", kind ? { class: kind } : {}));
    const take = (event) => tap(at(event));
    const zoom = moves
      ? reluflow.panning(svg, { view: () => view, show: look, reset, tap: take })
      : () => {};
    svg.addEventListener("click", (event) => {
      // Of a finger; one of the mouse may be the end of a drag.
      const pan = moves && event.pointerType === "mouse";
      if (!pan && !event.target.closest(".handle")) take(event);
    });
    const made = { svg, canvas: ground, box: square, layer, frame, redraw, look, reset, zoom, at };
    return { ...made, view: () => (view ??= first()) };
  }

  /**
   * A chart of two scales, as wide as its box.
   *
   * {label, high: pixels, x, y: scales, names: of the axes, draw(frame)}. Returns {svg, layer(),
   * frame(): {to(point), from(pixel), left, right, top, bottom}, rescale({x, y}), redraw()}.
   */
  function chart(box, { label, high = 200, x, y, names = ["", ""], draw }) {
    const svg = element("svg", { class: "chart", role: "group", "aria-label": label });
    const id = `live-clip-${++clips}`;
    const inside = element("rect");
    svg.append(element("defs", {}, element("clipPath", { id }, inside)));
    const ground = svg.appendChild(element("g"));
    box.append(svg);
    svg.style.height = `${high}px`;
    const width = widthOf(svg, () => redraw());
    const frame = () => {
      const [left, right, top, bottom] = [46, width() - 10, 24, high - 34];
      return {
        ...{ left, right, top, bottom, size: width() },
        to: (p) => [
          left + x.share(p[0]) * (right - left),
          bottom - y.share(p[1]) * (bottom - top),
        ],
        from: (p) => [
          x.value((p[0] - left) / (right - left)),
          y.value((bottom - p[1]) / (bottom - top)),
        ],
      };
    };
    let known = "";
    const redraw = () =>
      reluflow.drawn(svg, () => {
        const now = frame();
        axes(now);
        draw(now);
      });
    function axes({ left, right, top, bottom }) {
      const [across, up] = [x.ticks(Math.max(2, (right - left) / 70)), y.ticks(Math.max(2, (bottom - top) / 25))];
      const places = [across.map(([v, told]) => [x.share(v), told]), up.map(([v, told]) => [y.share(v), told]), right];
      if (known === places.join()) return; // as while a point is dragged
      known = places.join();
      svg.setAttribute("viewBox", `0 0 ${right + 10} ${high}`);
      // Room at the edges for the points and the words of what ends there.
      const edges = { x: left - 8, y: top - 14, width: right - left + 18, height: bottom - top + 20 };
      for (const [key, value] of Object.entries(edges)) inside.setAttribute(key, Math.max(0, value));
      const drawn = [];
      for (const [v, told] of across) {
        const at = left + x.share(v) * (right - left);
        drawn.push(line("axis", [at, top], [at, bottom]));
        const seen = right + 9 - reluflow.extent("tick", told)[0]; // the last one would be cut
        drawn.push(text({ kind: "tick", at: [Math.min(at, seen), bottom + 10], told }));
      }
      for (const [v, told] of up) {
        const at = bottom - y.share(v) * (bottom - top);
        drawn.push(line("axis", [left, at], [right, at]));
        drawn.push(text({ kind: "tick", at: [left - 4, at], told, right: true }));
      }
      drawn.push(text({ kind: "name", at: [right, high - 8], told: names[0], right: true }));
      drawn.push(text({ kind: "name", at: [left - 40, 7], told: names[1], left: true }));
      paint(ground, ...drawn);
    }
    const rescale = (next) => {
      x = next.x ?? x;
      y = next.y ?? y;
      redraw();
    };
    const layer = (kind = "") => svg.appendChild(element("g", { class: kind, "clip-path": `url(#${id})` }));
    const at = (event) => {
      const side = reluflow.boxOf(svg);
      return frame().from([event.clientX - side.left, event.clientY - side.top]);
    };
    return { svg, layer, frame, redraw, rescale, at };
  }

  /** A point that can be dragged, as a drawing: a group with room for a finger. */
  const handle = (label, kind = "") =>
    element(
      "g",
      { class: `handle ${kind}`, tabindex: 0, role: "slider", "aria-label": label },
      element("circle", { class: "grip", r: 24 }),
      element("circle", { class: "dot", r: 8 }),
    );

  /**
   * Let a point of a plane or a chart be dragged by mouse and finger, and moved by the arrow keys,
   * ten times finer with Shift.
   *
   * {label, kind: classes of its group, at(): where it is, move(point), done(): it has been let go,
   * told(): where it is, in words, seen(): it was moved by a key or has the focus}. Returns {group,
   * place()}; call place() whenever the view or the point has changed.
   */
  function draggable(on, { label, kind, at, move, done = () => {}, told, seen = () => {} }) {
    const group = handle(label, kind);
    const { svg, frame } = on;
    svg.append(group);
    let stands = ""; // where it is drawn
    function place() {
      const p = frame().to(at()).map((v) => Math.max(-FARTHEST, Math.min(FARTHEST, v)));
      if (stands !== p.join(" ")) group.setAttribute("transform", `translate(${(stands = p.join(" "))})`);
      reluflow.atEase(group, () => {
        group.setAttribute("aria-valuenow", at()[0]);
        group.setAttribute("aria-valuetext", (told ?? (() => reluflow.point(at())))());
      });
      return p;
    }
    let dragged = false;
    group.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      // Where grips overlap, the point that is nearest is taken, not the one that was drawn last.
      const gap = (each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return Math.hypot(event.clientX - (left + right) / 2, event.clientY - (top + bottom) / 2);
      };
      const nearest = [...svg.querySelectorAll(".handle")].reduce((a, b) => (gap(b) < gap(a) ? b : a), group);
      nearest.take(event);
    });
    group.take = (event) => {
      dragged = true;
      reluflow.drag(svg);
      group.setPointerCapture(event.pointerId);
      event.preventDefault();
      group.focus({ preventScroll: true });
    };
    group.addEventListener("pointermove", (event) => {
      if (dragged) move(on.at(event));
    });
    group.addEventListener("lostpointercapture", () => {
      if (dragged) done();
      dragged = false;
    });
    group.addEventListener("keydown", (event) => {
      const way = KEYS[event.key];
      if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const { to, from, size } = frame();
      const step = (size / 100) * (event.shiftKey ? 0.1 : 1);
      const p = to(at());
      const next = from([p[0] + step * way[0], p[1] + step * way[1]]);
      move(at().map((v, c) => (way[c] ? Number(next[c].toPrecision(12)) : v)));
      seen();
      done();
    });
    group.addEventListener("focus", seen);
    return { group, place };
  }

  Object.assign(reluflow, { line, disc, text, through, band, arrow, axes, grid, words, shade });
  Object.assign(reluflow, { plane, chart, draggable });
})();
