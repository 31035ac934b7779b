// The square of the plane that is shown, {x, y, r}: its middle and half its width.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const [LEAST, LARGEST] = [1e-30, 1e120];
  const FINEST = 1e-11; // of the middle: where doubles end

  /** How a view lies on a picture of so many pixels. */
  reluflow.frame = ({ x, y, r }, size) => {
    const scale = size / (2 * r);
    return {
      size,
      perPixel: 1 / scale,
      to: (w) => [(w[0] - x + r) * scale, (y + r - w[1]) * scale],
      from: (p) => [x - r + p[0] / scale, y + r - p[1] / scale],
    };
  };

  /** A view `by` times as wide, in which the point `at` of the plane is where it was. */
  reluflow.zoomed = ({ x, y, r }, by, at = [x, y]) => {
    const least = Math.max(LEAST, FINEST * Math.hypot(...at));
    const next = Math.min(LARGEST, Math.max(Math.min(least, r), r * by));
    const share = next / r;
    return { x: at[0] + (x - at[0]) * share, y: at[1] + (y - at[1]) * share, r: next };
  };

  /** A view moved by so many of its half widths. */
  reluflow.panned = ({ x, y, r }, [right, up]) => ({ x: x + right * r, y: y + up * r, r });

  /** A view moved just so far that it shows the point w, not at its very edge. */
  reluflow.showing = ({ x, y, r }, w) => {
    const near = (v, middle) => Math.max(v - 0.9 * r, Math.min(v + 0.9 * r, middle));
    return { x: near(w[0], x), y: near(w[1], y), r };
  };

  /** The view that shows all these points. */
  reluflow.viewOf = (points) => {
    const [low, high] = [Math.min, Math.max].map((pick) =>
      [0, 1].map((c) => pick(...points.map((p) => p[c]))),
    );
    const r = 0.75 * Math.max(high[0] - low[0], high[1] - low[1]) || 1;
    return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, r };
  };
})();
