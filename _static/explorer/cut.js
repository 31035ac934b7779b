// What of a line, a cone or a path is seen. A coordinate that is drawn lies on the plane or next to
// it, however far the plane is zoomed in: a picture has fewer digits than a flow.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const EDGE = 8; // pixels around the plane, so that no end of a line is seen
  const CLOSE = 0.2; // pixels between a path and the line that is drawn for it
  const MOST_HALVES = 60;
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const turned = ([a, b]) => [-b, a];

  /** The ends of what is seen of p + s d, s between two bounds, all in pixels; null for nothing. */
  function within(size, p, d, low, high) {
    let [from, to] = [low, high];
    for (const c of [0, 1]) {
      if (d[c] === 0 && (p[c] < -EDGE || p[c] > size + EDGE)) return null;
      if (d[c] === 0) continue;
      const [s, t] = [(-EDGE - p[c]) / d[c], (size + EDGE - p[c]) / d[c]];
      from = Math.max(from, Math.min(s, t));
      to = Math.min(to, Math.max(s, t));
    }
    return from < to ? [from, to] : null;
  }

  /** What is seen of the line w + s v, |v| = 1, with s between two bounds: both ends, or null. */
  reluflow.seenLine = ({ size, to, from, perPixel }, w, v, low = -Infinity, high = Infinity) => {
    const middle = from([size / 2, size / 2]);
    const s = dot(v, [middle[0] - w[0], middle[1] - w[1]]);
    const p = to([w[0] + s * v[0], w[1] + s * v[1]]);
    const d = [v[0] / perPixel, -v[1] / perPixel];
    const part = within(size, p, d, low - s, high - s);
    return part?.map((t) => [p[0] + t * d[0], p[1] + t * d[1]]) ?? null;
  };

  /** The corners of what is seen of the cone between two rays, at most a half plane; of the plane
   * without rays. Two opposite rays bound the half plane on the left of the first one. */
  reluflow.seenCone = ({ size, to, from }, rays) => {
    const [near, far] = [-EDGE, size + EDGE];
    const corners = [
      [near, near],
      [far, near],
      [far, far],
      [near, far],
    ];
    const half = rays.length && Math.hypot(rays[0][0] + rays[1][0], rays[0][1] + rays[1][1]) < 1e-9;
    const inner = half ? turned(rays[0]) : [0, 1].map((c) => rays.reduce((t, v) => t + v[c], 0));
    const cut = (points, ray) => {
      const normal = turned(ray).map((v) => v * Math.sign(dot(turned(ray), inner)));
      const kept = [];
      points.forEach((p, k) => {
        const q = points[(k + 1) % points.length];
        const [a, b] = [dot(normal, p), dot(normal, q)];
        if (a >= 0) kept.push(p);
        if (a * b < 0) kept.push([0, 1].map((c) => p[c] + (a / (a - b)) * (q[c] - p[c])));
      });
      return kept;
    };
    return rays.reduce(cut, corners.map(from)).map(to);
  };

  /** What is seen of a path, as lines of points in pixels. Between two of its times, `many` at each
   * end of a stretch, it is added to until no eye can tell it from straight lines. */
  reluflow.seenPath = ({ size, to }, flow, many) => {
    const lines = [];
    let open = false;
    const add = (p, q) => {
      const d = [q[0] - p[0], q[1] - p[1]];
      const part = within(size, p, d, 0, 1);
      if (!part) {
        open = false;
        return;
      }
      const [a, b] = part.map((s) => [p[0] + s * d[0], p[1] + s * d[1]]);
      if (open && part[0] === 0) lines.at(-1).push(b);
      else lines.push([a, b]);
      open = part[1] === 1;
    };
    // Within a cell the path is monotone along two orthogonal axes: it stays in this circle.
    const outside = (p, q) => {
      const radius = Math.hypot(q[0] - p[0], q[1] - p[1]) / 2;
      return [0, 1].some((c) => Math.abs((p[c] + q[c] - size) / 2) > size / 2 + EDGE + radius);
    };
    const between = (s, p, t, q, halves) => {
      const long = Math.hypot(q[0] - p[0], q[1] - p[1]);
      if (halves && long && !outside(p, q)) {
        const half = (s + t) / 2;
        const m = to(reluflow.at(flow, half));
        const off = Math.abs((m[0] - p[0]) * (q[1] - p[1]) - (m[1] - p[1]) * (q[0] - p[0]));
        if (s < half && half < t && (long > 2 * size || off > CLOSE * long)) {
          between(s, p, half, m, halves - 1);
          between(half, m, t, q, halves - 1);
          return;
        }
      }
      add(p, q);
    };
    let last = null;
    for (const t of reluflow.times(flow, many)) {
      const p = to(reluflow.at(flow, t));
      if (last) between(...last, t, p, MOST_HALVES);
      last = [t, p];
    }
    if (last) add(last[1], to(flow.end));
    return lines;
  };
})();
