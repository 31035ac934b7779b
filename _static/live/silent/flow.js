// Theorem 3.2: a neuron that serves two data alone, and a silent one beside it that could help, as the
// vectors u_j = v_j w_j with |v_j| = |w_j|.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const times = (c, a) => [c * a[0], c * a[1]];

  /** The shortest u with u.x_1 >= a and u.x_2 >= b, for a, b >= 0; null where there is none. */
  function shortest([x1, x2], a, b) {
    const alone = [times(a / dot(x1, x1), x1), times(b / dot(x2, x2), x2)];
    if (dot(alone[0], x2) >= b) return alone[0];
    if (dot(alone[1], x1) >= a) return alone[1];
    const det = x1[0] * x2[1] - x1[1] * x2[0];
    if (Math.abs(det) < 1e-12 * Math.sqrt(dot(x1, x1) * dot(x2, x2))) return null;
    return [(a * x2[1] - b * x1[1]) / det, (b * x1[0] - a * x2[0]) / det];
  }

  /** The neurons u_1, u_2 where the second has taken over the share s of datum 2, silent on datum 1. */
  function takenOver([x1, x2], s) {
    const first = shortest([x1, x2], 1, 1 - s);
    const along = dot(x1, x2) <= 0 ? x2 : x2.map((c, i) => c - (dot(x1, x2) / dot(x1, x1)) * x1[i]);
    return [first, times(s / dot(along, x2), along)];
  }

  /** |theta|^2 = 2 (|u_1| + |u_2|), with balanced layers. */
  const size = (us) => 2 * us.reduce((sum, u) => sum + Math.hypot(...u), 0);

  reluflow.silent = { shortest, size, takenOver };
})();
