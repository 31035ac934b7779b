// First zeros of f(t) = a + sum_k b_k (1 - exp(-l_k t)) on t > 0, for one or two rates: what every
// pre-activation x.w(t) of a flow in the plane is between two events. The derivative has at most
// one zero, in closed form, so f falls into at most two monotone pieces and no zero is stepped
// over. The twin of reluflow.flows.exponential_sums, for the browser.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const EPS = Number.EPSILON;
  const sum = (terms) => terms.reduce((total, term) => total + term, 0);
  const size = (terms) => sum(terms.map(Math.abs));

  /** [f(t), the size of the terms that it was added up from]: the form with the smaller terms. */
  reluflow.evaluated = evaluated;
  function evaluated(a, b, rates, t, limit) {
    const gone = b.map((v, k) => -v * Math.expm1(-rates[k] * t));
    const left = b.map((v, k) => v * Math.exp(-rates[k] * t));
    const early = Math.abs(a) + size(gone);
    const late = Math.abs(limit) + size(left);
    return early <= late ? [a + sum(gone), early] : [limit - sum(left), late];
  }

  /** The zero in t > 0 of a + b (1 - exp(-rate t)), which has this sign at first; or Infinity. */
  function single(a, b, rate, sign, limit) {
    const crosses = a !== 0 && Math.sign(limit) * sign < 0 && Math.sign(limit) * b > 0;
    if (!crosses) return Infinity;
    return -(Math.abs(a / b) < 0.5 ? Math.log1p(a / b) : Math.log(limit / b)) / rate;
  }

  /** The time after which f keeps its sign, or is rounding on its way to a limit of zero. */
  function horizon(a, b, rates, limit) {
    const floor = limit ? Math.abs(limit) / (2 * b.length) : 32 * EPS * (Math.abs(a) + size(b));
    const faded = b.map((v, k) => Math.log(Math.abs(v) / floor) / rates[k]);
    return Math.max(0, ...faded.filter((t) => !Number.isNaN(t)));
  }

  /** The zero of f in (lo, hi), at whose lower end it has this sign: Newton inside bisection. */
  function solve(a, b, rates, lo, hi, sign, limit) {
    const slopes = b.map((v, k) => v * rates[k]);
    // A tiny start meets zero tens of decades before hi: begin with a parabola from the start.
    const tangent = -a / sum(slopes);
    const bend = sum(slopes.map((v, k) => v * rates[k])) / sum(slopes);
    const parabola = tangent * (1 + 0.5 * tangent * bend);
    const guess = Math.abs(parabola - tangent) < 0.1 * tangent ? parabola : tangent;
    let root = lo === 0 && guess > 0 && guess < hi ? guess : 0.5 * (lo + hi);
    let last = Infinity;
    for (let turn = 0; turn < 1100; turn++) {
      const [value, terms] = evaluated(a, b, rates, root, limit);
      const slope = sum(slopes.map((v, k) => v * Math.exp(-rates[k] * root)));
      if (Math.sign(value) === sign) lo = root;
      else hi = root;
      if (Math.abs(value) <= Math.max(0.5 * terms, Math.abs(slope) * root) * EPS) break;
      if (last <= 2 * EPS * root) break;
      const newton = root - value / slope;
      const good = newton > lo && newton < hi && Math.abs(newton - root) < 0.5 * last;
      const next = good ? newton : 0.5 * (lo + hi);
      last = Math.abs(next - root);
      root = next;
    }
    return root;
  }

  /**
   * The first crossing of f and the point where it only touches zero, to rounding; or Infinity.
   * `sign` is that of f just after t = 0: it decides where a = 0. `limit` is that of f: beside a
   * far a it would drown in a + sum_k b_k.
   */
  reluflow.firstZero = (a, b, rates, sign, limit) => {
    if (b.length === 1) {
      return { crossing: single(a, b[0], rates[0], sign, limit), touch: Infinity };
    }
    const [slow, fast] = rates[0] <= rates[1] ? [0, 1] : [1, 0];
    // exp(slow rate * t) f'(t) is such a sum as well, of one exponential.
    const change = -b[fast] * rates[fast];
    let start = b[0] * rates[0] + b[1] * rates[1];
    // A sum that starts at zero with its slope against its sign starts tangentially: that slope is
    // rounding, and left in it would make a zero out of nothing just after t = 0.
    if (a === 0 && start * sign < 0) start = 0;
    const first = start === 0 ? (a === 0 ? sign : Math.sign(change)) : Math.sign(start);
    const apart = rates[fast] - rates[slow];
    const end = horizon(a, b, rates, limit);
    const turning = apart
      ? Math.min(end, single(start, change, apart, first, b[slow] * rates[slow]))
      : end;
    const [value, terms] = evaluated(a, b, rates, turning, limit);
    const touches = Math.abs(value) <= 32 * EPS * terms && turning < end;
    const knots = [0, turning, end];
    const signs = [
      sign,
      touches ? 0 : Math.sign(value),
      Math.sign(evaluated(a, b, rates, end, limit)[0]),
    ];
    let crossing = Infinity;
    for (let k = 1; k < 3 && crossing === Infinity; k++) {
      signs[k] ||= signs[k - 1]; // a touch by itself changes nothing
      if (signs[k - 1] * signs[k] < 0 && knots[k - 1] < knots[k]) {
        crossing = solve(a, b, rates, knots[k - 1], knots[k], signs[k - 1], limit);
      }
    }
    return { crossing, touch: touches ? turning : Infinity };
  };
})();
