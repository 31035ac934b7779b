// Chapter 5's race in closed form: a diagonal network of depth m whose layers are all
// alpha = (alpha_1, alpha_2) > 0 sees one datum x > 0 with the label 1, under the exponential loss.
// On the clock sigma, d sigma = L dt, each coordinate goes by itself: d alpha_i = x_i alpha_i^(m-1).
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});

  /** log of x_1 alpha_1^m + x_2 alpha_2^m = log(1/L), of log alpha. */
  function logMargin(logs, x, m) {
    const parts = logs.map((a, i) => m * a + Math.log(x[i]));
    const top = Math.max(...parts);
    return top + Math.log(parts.reduce((sum, part) => sum + Math.exp(part - top), 0));
  }

  /**
   * The race from alpha in R^2 under the datum x: `winner` 0 or 1, or null where both grow for ever,
   * and `at(level)` = log alpha where log log(1/L) is `level`.
   */
  function race(alpha, x, m) {
    const start = logMargin(alpha.map(Math.log), x, m);
    const k = m - 2;
    // What is left to each coordinate before it is infinite; at m = 2 neither is.
    const ends = k > 0 ? alpha.map((a, i) => a ** -k / (k * x[i])) : null;
    const first = ends && (ends[1] < ends[0] ? 1 : 0);
    const ahead = ends && Math.abs(ends[0] - ends[1]);
    // log alpha, of the logarithm of what is left to the first, or for m = 2 of sigma itself
    const logs = (clock) =>
      alpha.map((a, i) => {
        if (!ends) return Math.log(a) + x[i] * clock;
        const left = Math.exp(clock) + (i === first ? 0 : ahead);
        return -Math.log(k * x[i] * left) / k;
      });
    const tie = ends ? ahead <= 1e-15 * Math.max(...ends) : x[0] === x[1];
    return {
      winner: tie ? null : ends ? first : x[1] > x[0] ? 1 : 0,
      start,
      at(level) {
        if (level <= start) return alpha.map(Math.log);
        let [early, late] = ends ? [Math.log(ends[first]), -(k / m) * (level + 50) - 50] : [0, level + 1e3];
        for (let i = 0; i < 50; i++) {
          const middle = (early + late) / 2;
          if (logMargin(logs(middle), x, m) < level) early = middle;
          else late = middle;
        }
        return logs((early + late) / 2);
      },
    };
  }

  /** V = |theta|^2 / margin^(2/m) of the direction (cos, sin) of an angle in [0, pi/2]. */
  function value(angle, x, m) {
    return m / (x[0] * Math.cos(angle) ** m + x[1] * Math.sin(angle) ** m) ** (2 / m);
  }

  reluflow.race = { logMargin, race, value };
})();
