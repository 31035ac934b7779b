// Chapter 2's flow in closed form: the angle and the magnitude of a chain with m factors besides w,
// under a teacher with |w*| = 1. psi = log tan(phi/2), rho = log |w|, as in
// reluflow.papers.lee2023magnitude.population.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});

  // Gauss and Legendre's rule of ten points on [-1, 1].
  const HALF = [
    [0.1488743389816312, 0.2955242247147529],
    [0.4333953941292472, 0.2692667193099963],
    [0.6794095682990244, 0.2190863625159821],
    [0.8650633666889845, 0.1494513491505806],
    [0.9739065285171717, 0.0666713443086881],
  ];
  const RULE = HALF.flatMap(([x, w]) => [
    [x, w],
    [-x, w],
  ]);
  // That of five, for short steps.
  const [P, Q] = [0.5384693101056831, 0.906179845938664];
  const [AT_P, AT_Q] = [0.47862867049936647, 0.23692688505618908];
  const FIVE = [[0, 128 / 225], [P, AT_P], [-P, AT_P], [Q, AT_Q], [-Q, AT_Q]];
  const TAYLOR = Array.from({ length: 11 }, (_, i) => {
    let factorial = 1;
    for (let j = 2; j <= 2 * i + 3; j++) factorial *= j;
    return ((i % 2 ? -1 : 1) * 2 * (i + 1)) / factorial;
  });

  /** sin a - a cos a, by its Taylor series where its terms cancel. */
  const sineLessArc = (a) =>
    a < 1
      ? a ** 3 * TAYLOR.reduceRight((sum, c) => sum * a * a + c, 0)
      : Math.sin(a) - a * Math.cos(a);

  const angle = (psi) => 2 * Math.atan(Math.exp(psi));
  const logTan = (phi) => Math.log(Math.tan(phi / 2));
  /** 1 - eps = (sin phi - phi cos phi) / pi, from 0 at phi = 0 to 1 at phi = pi. */
  const pull = (phi) => sineLessArc(phi) / Math.PI;

  const integral = (f, a, b, rule = RULE) => {
    const [middle, half] = [(a + b) / 2, (b - a) / 2];
    let sum = 0;
    for (const [x, w] of rule) sum += w * f(middle + half * x);
    return half * sum;
  };
  const logCosh = (x) => Math.abs(x) + Math.log1p(Math.exp(-2 * Math.abs(x))) - Math.LN2;
  /** log(phi / sin phi) */
  const logG = (psi) => Math.log(angle(psi)) + logCosh(psi);

  const STEP = 0.05; // of psi: the rule of five points is at rounding there

  /** The orbit from phi0, v0 until psi = `last`: arrays psi, phi, v and t. */
  function orbit(phi0, v0, m, last) {
    const psi0 = logTan(phi0);
    const found = { psi: [psi0], phi: [phi0], v: [v0], t: [0] };
    // ((v*/v) g)^(m+1) = ((v*/v0) g0)^(m+1) + (m+1) pi * the integral of phi^m cosh^(m+1) dpsi.
    const dense = (psi) => Math.exp(m * Math.log(angle(psi)) + (m + 1) * logCosh(psi));
    let sum = Math.exp((m + 1) * (logG(psi0) - Math.log(v0)));
    for (let [a, b] = [psi0, psi0]; a < last; a = b) {
      // A long start shrinks at once: there the steps are as small as that asks for.
      b = Math.min(last, a + Math.min(STEP, (0.25 * sum) / ((m + 1) * Math.PI * dense(a))));
      const at = (psi) => sum + (m + 1) * Math.PI * integral(dense, a, psi, FIVE);
      const size = (psi, total) => Math.exp(logG(psi) - Math.log(total) / (m + 1));
      const pace = (psi) => (2 * Math.PI) / (size(psi, at(psi)) ** (m - 1) * angle(psi));
      found.t.push(found.t.at(-1) + integral(pace, a, b, FIVE));
      sum = at(b);
      found.psi.push(b);
      found.phi.push(angle(b));
      found.v.push(size(b, sum));
    }
    return found;
  }

  /**
   * u at the times t (rising, from 0), where du/dt = -1/2 u^m (u^(m+1) - k), u(0) = u0: with
   * z = u^(m+1) / k the time is the integral of 2 u^(1-m) / ((m+1) k) over x = log(z / |1 - z|).
   */
  function chain(t, u0, k, m) {
    const z0 = u0 ** (m + 1) / k;
    if (z0 === 1) return t.map(() => u0);
    const side = z0 < 1 ? 1 : -1;
    const u = (x) => (k / (1 + side * Math.exp(-x))) ** (1 / (m + 1));
    const slow = (x) => (2 * u(x) ** (1 - m)) / ((m + 1) * k);
    let [x, now] = [Math.log(z0) - Math.log(Math.abs(1 - z0)), 0];
    return t.map((time, i) => {
      if (i === 0) return u0;
      while (x < 40) {
        const step = Math.min(0.25, Math.max(0.25 * x, 0.01 * Math.abs(x)) || 1e-3);
        const next = now + integral(slow, x, x + step);
        if (next >= time) break;
        [x, now] = [x + step, next];
      }
      if (x >= 40) return k ** (1 / (m + 1));
      let end = x;
      for (let j = 0; j < 6; j++) end += (time - now - integral(slow, x, end)) / slow(end);
      return u(end);
    });
  }

  /**
   * F(u; eps) of Theorem 3.8 at u^(m+1) / kappa = z, kappa = 1 - eps: its series up to z = 1/4, and
   * behind it dF = -u^(1-m) / ((m+1) kappa) dx, x = log(z / (1 - z)).
   */
  function printed(x, kappa, m) {
    const u = (y) => (kappa / (1 + Math.exp(-y))) ** (1 / (m + 1));
    const near = Math.min(x, -Math.log(3));
    const b = (1 - m) / (m + 1);
    let sum = 0;
    for (let n = 0, z = 1 / (1 + Math.exp(-near)); n < 40; n++) sum += (b / (b + n)) * z ** n;
    const pieces = Math.ceil(x - near);
    let value = (u(near) ** (1 - m) / ((m - 1) * kappa)) * sum;
    for (let i = 0; i < pieces; i++) {
      const [from, to] = [i, i + 1].map((j) => near + ((x - near) * j) / pieces);
      value -= integral((y) => u(y) ** (1 - m) / ((m + 1) * kappa), from, to);
    }
    return value;
  }

  /** Where the printed u(t; 0) of Theorem 3.8 starts; null where its equation has no solution. */
  function printedStart(phi0, v0, m) {
    const kappa = pull(phi0);
    const z = v0 ** (m + 1) / kappa;
    if (m < 2 || z >= 1) return null;
    const level = printed(Math.log(z / (1 - z)), kappa, m);
    let [low, high] = [-200, 36];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (printed(middle, 1, m) > level) low = middle;
      else high = middle;
    }
    return (1 / (1 + Math.exp(-low))) ** (1 / (m + 1));
  }

  /** The bounds {lower, upper, printed} on |w| at the times t: Theorems 3.3 and 3.8. */
  function bounds(t, phi0, v0, m) {
    const kappa = pull(phi0);
    if (m === 0) {
      const of = (k) => t.map((s) => -Math.expm1(-s / 2) * k + Math.exp(-s / 2) * v0);
      return { lower: of(kappa), upper: of(1), printed: null };
    }
    if (m === 1) {
      const of = (k) => t.map((s) => 1 / Math.sqrt(Math.exp(-k * s) / v0 ** 2 - Math.expm1(-k * s) / k));
      return { lower: of(kappa), upper: of(1), printed: null };
    }
    const start = printedStart(phi0, v0, m);
    return {
      lower: chain(t, v0, kappa, m),
      upper: chain(t, v0, 1, m),
      printed: start && chain(t, start, 1, m),
    };
  }

  /** The bounds {lower, upper} on phi of Theorems 3.4 and 3.9, where r < |w| < R. */
  function angleBounds(t, phi0, m, r, R) {
    const [slow, fast] = m === 0 ? [R, r] : [r, R];
    const p = (phi0 / (2 * Math.PI)) * slow ** (m - 1);
    const q = 0.5 * fast ** (m - 1);
    const k = 1 / Math.tan(phi0 / 2);
    return {
      lower: t.map((s) => Math.PI - 2 * k * Math.exp(-p * s)),
      upper: t.map((s) => Math.PI - 2 * k * Math.exp(-q * s) + (2 / 3) * k ** 3 * Math.exp(-3 * q * s)),
    };
  }

  reluflow.orbits = { angleBounds, bounds, logTan, orbit, pull };
})();
