// The ways in which a gradient flow in the plane can leave a point on activation boundaries: one,
// none or several. A flow that leaves runs, for a while, inside one face of the arrangement of the
// boundaries there; each face is asked whether the flow that it implies stays in it.
// The twin of reluflow.flows.switching and reluflow.flows.continuations, for d = 2.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const TOLERANCE = 1e-13; // a derivative below this share of its terms counts as zero
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1];
  const cross = (u, v) => u[0] * v[1] - u[1] * v[0];
  const plus = (u, v) => [u[0] + v[0], u[1] + v[1]];
  const times = (s, v) => [s * v[0], s * v[1]];
  const absolute = (v) => [Math.abs(v[0]), Math.abs(v[1])];
  const applied = (H, v) => [dot(H[0], v), dot(H[1], v)];
  const total = (vectors) => vectors.reduce(plus, [0, 0]);

  /** Group data (indices) into boundaries, normal.w = 0: parallel data share one. `jump` is what
   * they add to the velocity, along the normal, where normal.w < 0 and where it is > 0. */
  reluflow.surfaces = (X, y, data) => {
    const found = [];
    for (const j of data) {
      const unit = times(1 / Math.hypot(...X[j]), X[j]);
      let surface = found.find(({ normal }) => Math.abs(cross(unit, normal)) <= 1e-12);
      if (!surface) found.push((surface = { normal: unit, data: [], plus: [], minus: [] }));
      surface.data.push(j);
      (dot(X[j], surface.normal) > 0 ? surface.plus : surface.minus).push(j);
    }
    for (const surface of found) {
      const push = (members) =>
        members.reduce((all, j) => all + y[j] * dot(X[j], surface.normal), 0);
      surface.jump = [push(surface.minus), push(surface.plus)];
    }
    return found;
  };

  /** The part of v along all of the boundaries `stay`. */
  const tangential = (stay, v) => {
    if (stay.length > 1) return [0, 0];
    return stay.length ? plus(v, times(-dot(v, stay[0].normal), stay[0].normal)) : v;
  };
  reluflow.tangential = tangential;

  /** Columns of the pseudoinverse of the normals as rows. */
  function duals(stay) {
    const normals = stay.map(({ normal }) => normal);
    if (normals.length < 2) return normals;
    const a = normals.reduce((s, n) => s + n[0] * n[0], 0);
    const b = normals.reduce((s, n) => s + n[0] * n[1], 0);
    const c = normals.reduce((s, n) => s + n[1] * n[1], 0);
    const det = a * c - b * b;
    return normals.map((n) => [(c * n[0] - b * n[1]) / det, (a * n[1] - b * n[0]) / det]);
  }

  /** Rows [F, c]: the boundaries `stay` hold the flow while F.v <= c for every row, v being the
   * velocity that the other data give: some mean of what `stay` adds around must cancel it. */
  reluflow.holding = (stay) => {
    if (stay.length < 3) {
      return duals(stay).flatMap((dual, k) => {
        const [low, high] = [Math.min(...stay[k].jump), Math.max(...stay[k].jump)];
        return [
          [times(-1, dual), high],
          [dual, -low],
        ];
      });
    }
    // Three lines through one point: not every choice of sides is a cell.
    const added = sectors(stay).map((at) =>
      total(stay.map(({ normal, jump }) => times(jump[dot(normal, at) > 0 ? 1 : 0], normal))),
    );
    return hull(added, Math.max(...stay.flatMap(({ jump }) => jump.map(Math.abs))));
  };

  /** Rows [F, c] with F.v <= c if and only if -v lies in the convex hull of the points. */
  function hull(points, scale) {
    const centre = times(1 / points.length, total(points));
    const away = points.map((p) => plus(p, times(-1, centre)));
    const far = away.reduce((best, p) => (Math.hypot(...p) > Math.hypot(...best) ? p : best));
    const least = 1e-12 * Math.max(Math.hypot(...far), scale);
    const reach = (a) => [times(-1, a), Math.max(...points.map((p) => dot(a, p)))];
    const along = Math.hypot(...far) > least ? times(1 / Math.hypot(...far), far) : [1, 0];
    const across = [-along[1], along[0]];
    if (away.every((p) => Math.abs(dot(across, p)) <= least)) {
      return [along, across].flatMap((a) => [reach(a), reach(times(-1, a))]);
    }
    const rows = [];
    for (const p of points) {
      for (const q of points) {
        const edge = plus(q, times(-1, p));
        if (Math.hypot(...edge) <= least) continue;
        const outward = times(1 / Math.hypot(...edge), [edge[1], -edge[0]]);
        if (points.every((r) => dot(outward, r) <= dot(outward, p) + least)) {
          rows.push([times(-1, outward), dot(outward, p)]);
        }
      }
    }
    return rows;
  }

  /** Unit vectors along the boundaries, both ways, in the order of their angles. */
  const rays = (here) =>
    here
      .flatMap(({ normal: [a, b] }) => [
        [-b, a],
        [b, -a],
      ])
      .sort((u, v) => Math.atan2(u[1], u[0]) - Math.atan2(v[1], v[0]));

  /** A point in each of the sectors between three or more boundaries. */
  const sectors = (here) => rays(here).map((ray, k, all) => plus(ray, all[(k + 1) % all.length]));

  function candidates(here) {
    if (here.length > 3) {
      const side = (at) =>
        here.map(({ normal }) =>
          Math.abs(dot(normal, at)) < 1e-10 * Math.hypot(...at) ? 0 : Math.sign(dot(normal, at)),
        );
      return [here.map(() => 0), ...rays(here).map(side), ...sectors(here).map(side)];
    }
    return here.reduce((all, _) => all.flatMap((s) => [1, -1, 0].map((v) => [...s, v])), [[]]);
  }

  /** Sign of the first of the derivatives that exceeds rounding at its scale; else 0. */
  function leading(derivatives, scale) {
    const k = derivatives.findIndex((v, i) => Math.abs(v) > TOLERANCE * scale[i]);
    return k < 0 ? 0 : Math.sign(derivatives[k]);
  }

  /**
   * All ways to go on from w, a point on the boundaries `here`: lists of {sides, resting}.
   * `active` are the flags of the data strictly active there.
   */
  reluflow.continuations = (X, y, w, active, here) => {
    const H = [
      [0, 0],
      [0, 0],
    ];
    let v = [0, 0];
    const near = [];
    const there = new Set(here.flatMap(({ data }) => data));
    X.forEach((x, j) => {
      if (active[j]) {
        v = plus(v, times(y[j] - dot(x, w), x));
        gather(H, x);
      }
      if (!active[j] && !there.has(j)) return;
      // On a boundary x.w is zero, and not the rounding of a far w.
      const size = Math.abs(y[j]) + (active[j] ? dot(absolute(x), absolute(w)) : 0);
      near.push([absolute(x), size]);
    });
    // Rounding of the derivatives is judged by the sums of the absolute values of their terms.
    const scale = [total(near.map(([x, size]) => times(size, x)))];
    for (let k = 0; k < 2; k++) scale.push(total(near.map(([x]) => times(dot(x, scale[k]), x))));
    return candidates(here)
      .map((sides) => consistent(X, H, v, scale, here, sides))
      .filter(Boolean);
  };

  function gather(H, x) {
    H[0] = plus(H[0], times(x[0], x));
    H[1] = plus(H[1], times(x[1], x));
  }

  /** The way to go on within the face `sides`, or null if its flow does not stay in it. */
  function consistent(X, strict, push, scale, here, sides) {
    const H = strict.map((row) => row.slice());
    let v = push;
    const stay = here.filter((_, k) => sides[k] === 0);
    here.forEach((surface, k) => {
      if (!sides[k]) return;
      for (const j of sides[k] > 0 ? surface.plus : surface.minus) gather(H, X[j]);
      v = plus(v, times(surface.jump[sides[k] > 0 ? 1 : 0], surface.normal));
    });
    const free = [v]; // derivatives of the velocity without `stay`, and of w(t)
    const jet = [tangential(stay, v)];
    for (let k = 0; k < 2; k++) {
      free.push(times(-1, applied(H, jet[k])));
      jet.push(tangential(stay, free[k + 1]));
    }
    const sizes = scale.map((s) => Math.hypot(...s) + 1e-300);
    const goes = ({ normal }) =>
      leading(
        jet.map((u) => dot(u, normal)),
        sizes,
      );
    if (here.some((surface, k) => sides[k] && goes(surface) !== sides[k])) return null;
    for (const [F, c] of reluflow.holding(stay)) {
      const room = free.map((u, k) => (k ? 0 : c) - dot(F, u));
      const width = scale.map((s, k) => dot(s, absolute(F)) + (k ? 0 : Math.abs(c)) + 1e-300);
      if (leading(room, width) < 0) return null;
    }
    const idle = duals(stay).map(
      (dual) =>
        !leading(
          free.map((u) => dot(u, dual)),
          sizes,
        ),
    );
    const resting = here.map((surface) => {
      const k = stay.indexOf(surface);
      return k >= 0 && idle[k] && !(surface.plus.length && surface.minus.length);
    });
    return { sides, resting };
  }
})();
