// What all live pictures and the explorer share. Plain scripts without modules, so that the pages
// work from a folder, too; everything hangs on `reluflow`. Beside this file: plane.js (plane,
// chart, points that are dragged), view.js, panning.js, labels.js (where words stand), live.css.
//
// A picture NAME is the folder _static/live/NAME, shown by the directive ```{live} NAME
//   state: angle=2&X=1,0;0,1          (how it opens; optional; written `:state: ...`)
// ``` whose content, or else the output of the code cell before it, is the still figure that stays
// where there is no script and on paper. A script says `// needs ../explorer/flow.js` in a line of
// its own for what it takes from elsewhere below _static/live. It calls
//
//   reluflow.picture("NAME", { state, fits, build })
//     state: all that an address keeps, by its defaults: numbers, strings, lists of numbers or of
//       points, {angle: 2, X: [[1, 0], [0, 1]]}. An address is page.html#live-NAME?angle=3.
//     fits(state): whether a state that an address tells can be drawn (optional; else as it opens).
//     build(box, state, keep) draws into the element `box`; call keep(state) at each change made by
//       the reader. It is built anew when a link on the page asks for a state.
//
// Tools, each explained at its place:
//   numbers   short, point, settled (rounding is 0), tens (10⁻⁴³⁴³ from a log10), named, number
//   elements  html, svg, mark and paint(layer, ...marks), soon (once a frame), sliced (what takes longer), drawn(element, draw) (in turn during a drag), colour,
//             still ({matches} where motion is unwanted)
//   words     sentence(box): tells what happens, read aloud when it has come to rest; atEase(owner, act)
//   controls  button, chooser, slider(box, …), clock(box, …), scale(from, to, log)
//   places    plane(box, …), chart(box, …), draggable(place, …)   in plane.js
//   layout    classes of live.css: sides, controls, wide; colours --flow --best --other --one … --six
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const [LEAST, LARGEST] = [1e-30, 1e30]; // as in reluflow.datasets
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const SLICE = 8; // milliseconds of a long computation, within a frame
  const QUIET = 250; // milliseconds after which what changes has come to rest
  const SOON = 120; // and after which it is drawn finely

  // --- Numbers ----------------------------------------------------------------------------------

  /** A number to so many digits, with a minus sign as in print. */
  const short = (v, digits = 5) => String(Number(v.toPrecision(digits))).replaceAll("-", "\u2212");
  /** v, and 0 where it is rounding beside numbers of the size `scale`. */
  const settled = (v, scale = 1) => (Math.abs(v) <= 1e-12 * scale ? 0 : v);
  /** (1.5, -2), and what is rounding of the other coordinate as 0. */
  const point = (w) => `(${w.map((v) => short(settled(v, Math.hypot(...w)))).join(", ")})`;
  const raised = (n) => [...String(n)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  /** 3.2·10⁻⁴³⁴³ of its logarithm to the base 10, which may be that of no double. */
  const tens = (log, digits = 2) => {
    const power = Math.floor(log + 1e-9);
    const lead = short(10 ** (log - power), digits);
    return `${lead === "1" ? "" : `${lead}·`}10${raised(power)}`;
  };
  /** x₁₂ for the datum 11. */
  const named = (j) => `x${[...String(j + 1)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("")}`;

  /** A number of a size that can be computed with, or a sentence's second half. */
  function number(cell) {
    const text = cell.trim().replaceAll("\u2212", "-"); // as this page prints it
    const shown = text.length > 20 ? `${text.slice(0, 20)}…` : text;
    if (!NUMBER.test(text)) return `“${shown}” is not a number`;
    const value = Number(text);
    const size = Math.abs(value);
    if (value !== 0 && !(size >= LEAST && size <= LARGEST)) {
      return `${shown} is too ${size > LARGEST ? "large" : "small"}`;
    }
    return value + 0; // no -0
  }

  const within = (value, low, high) => Math.min(high, Math.max(low, value));
  const range = (many, f) => Array.from({ length: many }, (_, k) => f(k));
  const degrees = (angle, digits = 3) => `${short(settled((angle * 180) / Math.PI), digits)}°`;

  // --- Elements ---------------------------------------------------------------------------------

  function filled(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  const html = (name, attributes = {}, ...children) =>
    filled(document.createElement(name), attributes, children);
  const svg = (name, attributes = {}, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

  /** An element of an SVG as it shall be, for `paint`. */
  const mark = (name, attributes = {}, ...children) => ({ name, attributes, children });
  /** Draw such marks into an element, and nothing else: what stands there already is kept, and of it
   * only what differs is changed, so that the browser has less to lay out and to paint. */
  function paint(parent, ...marks) {
    let node = parent.firstChild;
    for (const mark of marks) {
      const { name, attributes, children } = mark;
      const last = node?.mark;
      if (last?.name === name && last.attributes.class === attributes.class) {
        for (const key in attributes) {
          if (attributes[key] !== last.attributes[key]) node.setAttribute(key, attributes[key]);
        }
      } else {
        const made = svg(name, attributes);
        if (node) node.replaceWith(made);
        else parent.append(made);
        node = made;
      }
      const same = last === node.mark && last?.children[0] === children[0];
      if (typeof children[0] !== "string") paint(node, ...children);
      else if (!same) node.textContent = children[0];
      node.mark = mark;
      node = node.nextSibling;
    }
    while (node) {
      const next = node.nextSibling;
      node.remove();
      node = next;
    }
  }

  /** A function that calls `act` once in the next frame, however often it is called before. */
  function soon(act) {
    let waiting = 0;
    return () => {
      waiting ||= requestAnimationFrame(() => {
        waiting = 0;
        act();
      });
    };
  }

  /** A function that calls `act` when it has not been called for a while. */
  function atRest(act, wait = QUIET) {
    let waiting = 0;
    return (...told) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => act(...told), wait);
    };
  }

  // Words and tables take as long as the drawing: while something is dragged they wait for a rest.
  let held = null; // the place where something is dragged
  const waiting = new Map(); // what is to be done then, by its owner
  function tellAll() {
    for (const act of waiting.values()) act();
    waiting.clear();
    measured = null; // words may have moved it
  }
  const rest = atRest(tellAll);
  /** Call `act` now, or where something is dragged when it rests: then the last one of its owner. */
  function atEase(owner, act) {
    if (!held) {
      act();
      return;
    }
    waiting.set(owner, act);
    rest();
  }
  const turns = new Map(); // drawings of other places than the held one, by their element
  const inTurn = soon(() => {
    const [first] = turns;
    if (!first) return; // what waited was drawn when the finger was lifted
    const [element, draw] = first;
    turns.delete(element);
    draw();
    if (turns.size) inTurn();
  });
  /** Draw into an element: at once, or while something is dragged elsewhere one drawing a frame. */
  function drawn(element, draw) {
    if (!held || held.contains(element)) {
      turns.delete(element);
      draw();
      return;
    }
    turns.set(element, draw);
    inTurn();
  }
  /** A function that calls draw(true), or while something is dragged draw(false), which may be coarser,
   * and draw(true) as soon as it rests. */
  function coarsely(draw) {
    const finer = atRest(() => draw(true), SOON);
    return () => {
      draw(!held);
      if (held) finer();
    };
  }
  let [measured, box] = [null, null]; // in a drag
  const drag = (place) => ([held, measured] = [place, null]);
  /** Where an element is on the screen. In a drag it is measured once, for to measure it the browser
   * lays the whole page out. */
  function boxOf(element) {
    if (!held || measured !== element) [measured, box] = [element, element.getBoundingClientRect()];
    return box;
  }
  for (const change of ["scroll", "resize"]) addEventListener(change, () => (measured = null), true);
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, () => {
      held = null;
      tellAll();
    });
  }

  /** A function that runs a generator in slices, then calls `act` with what it returns; another
   * call gives up the one before. */
  function sliced(act) {
    let course = null;
    const slice = () => {
      const until = performance.now() + SLICE;
      let step = course.next();
      while (!step.done && performance.now() < until) step = course.next();
      if (step.done) act(step.value);
      else waiting = setTimeout(slice);
    };
    let waiting = 0;
    return (next) => {
      clearTimeout(waiting);
      course = next;
      waiting = setTimeout(slice);
    };
  }

  /** A colour of the theme, for a canvas. */
  const colour = (element, name) => getComputedStyle(element).getPropertyValue(name).trim();
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /** Call `act` when an element has another size or the page another theme. */
  function onLook(element, act) {
    new ResizeObserver(act).observe(element);
    const themes = { attributes: true, attributeFilter: ["data-theme"] };
    new MutationObserver(act).observe(document.documentElement, themes);
  }

  // --- Words and controls -----------------------------------------------------------------------

  /** A paragraph that says what happens: say(() => text). It is read aloud once it is at rest. */
  function sentence(box, kind = "told") {
    const told = html("p", { class: kind, "aria-live": "polite" });
    const rest = atRest(() => told.removeAttribute("aria-busy"));
    box.append(told);
    const write = (text) => {
      if (told.textContent === text) return;
      told.setAttribute("aria-busy", true);
      told.textContent = text;
      rest();
    };
    return (make) => atEase(told, () => write(make()));
  }

  /** A row of places beside each other: the function that it returns makes one, with a caption. */
  function cells(box) {
    const row = html("div", { class: "sides" });
    box.append(row);
    return (...caption) => {
      const place = html("div");
      row.append(html("div", {}, place, html("p", {}, ...caption)));
      return place;
    };
  }

  function button(box, text, act) {
    const made = html("button", { type: "button" }, text);
    made.addEventListener("click", act);
    box.append(made);
    return made;
  }

  /** A list of names to choose from: change(k) is the k-th one; returns the select element. */
  function chooser(box, label, names, change) {
    const list = html("select", {}, ...names.map((name, k) => new Option(name, k)));
    list.addEventListener("change", () => change(Number(list.value)));
    box.append(html("label", {}, `${label} `, list));
    return list;
  }

  /** A scale between two values: share(v) in 0 to 1, its inverse value(u), and ticks(many), a list
   * of [value, words]. Any object with these three is one, whatever monotone map it makes. */
  function scale(from, to, log = false) {
    const [a, b] = log ? [Math.log10(from), Math.log10(to)] : [from, to];
    return {
      share: (v) => ((log ? Math.log10(v) : v) - a) / (b - a || 1),
      value: (u) => (log ? 10 ** (a + u * (b - a)) : a + u * (b - a)),
      ticks: (many = 6) =>
        steps(a, b, many, log ? 1 : 0).map(([v, told]) => (log ? [10 ** v, Math.abs(v) < 4 ? short(10 ** v) : tens(v)] : [v, told])),
    };
  }

  /** A linear scale with ticks [[value, words], ...] of one's own. */
  const ticked = (from, to, list) => ({ ...scale(from, to), ticks: () => list });

  /** Round numbers between two values, about so many: [value, words]. */
  function steps(from, to, many = 6, least = 0) {
    if (!(to > from)) return [];
    const rough = (to - from) / many;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(least, power * [1, 2, 5, 10].find((v) => v * power >= rough));
    const digits = Math.ceil(Math.log10(Math.max(-from, to) / step)) + 1;
    const found = [];
    for (let k = Math.ceil(from / step); k * step <= to; k++) {
      found.push([k * step, short(k * step, Math.max(1, Math.min(17, digits)))]);
    }
    return found;
  }

  /** A slider over a scale: {label, over, value, told(v), change(v)}. Returns {value(), set(v),
   * share(), input}. `over` may be changed by rescale(scale). */
  function slider(box, { label, over, value, told = short, change }) {
    const input = html("input", { type: "range", min: 0, max: 1, step: 0.001, "aria-label": label });
    const shown = html("output");
    box.append(html("label", { class: "slide" }, html("span", {}, `${label} `), input, shown));
    let now = value;
    const say = () => {
      input.setAttribute("aria-valuetext", told(now));
      shown.textContent = told(now);
    };
    const set = (v) => {
      now = v;
      atEase(input, () => {
        input.value = over.share(now);
        say();
      });
    };
    input.addEventListener("input", () => {
      now = over.value(Number(input.value));
      say();
      change(now);
    });
    set(value);
    const rescale = (next) => {
      over = next;
      set(now);
    };
    return { value: () => now, share: () => Number(input.value), set, rescale, input };
  }

  /**
   * A clock: a button that plays and pauses, and a slider over time.
   *
   * {over: a scale of time, value, told(t), show(t), seconds: of a whole run, stops(): shares of the
   * slider at which something happens}. show(t) draws the time t. Nothing plays by itself. A reader
   * who wants no motion is taken to the next of the stops instead, or on by a tenth.
   * Returns {value(), set(t), rescale(scale), play(), pause()}.
   */
  function clock(box, { label = "Time", over, value, told, show, seconds = 8, stops = () => [] }) {
    const row = html("p", { class: "clock" });
    box.append(row);
    let [playing, last] = [0, 0];
    const play = button(row, "Play", () => (playing ? pause() : start()));
    const time = slider(row, { label, over, value, told, change: (t) => (pause(), show(t)) });
    function pause() {
      cancelAnimationFrame(playing);
      playing = 0;
      play.textContent = "Play";
    }
    function go(u) {
      time.input.value = u;
      const t = over.value(Math.min(1, u));
      time.set(t);
      show(t);
    }
    function next() {
      const u = time.share();
      const found = stops().filter((stop) => stop > u + 1e-3 && stop < 1).sort((a, b) => a - b)[0];
      go(u >= 1 ? 0 : (found ?? (stops().length ? 1 : Math.min(1, u + 0.1))));
    }
    function start() {
      if (still.matches) {
        next();
        return;
      }
      play.textContent = "Pause";
      let u = time.share() >= 1 ? 0 : time.share();
      last = 0;
      const frame = (now) => {
        // A page that was left for a while goes on from where it was.
        if (last) u += Math.min(now - last, 100) / (1000 * seconds);
        last = now;
        go(u);
        if (u >= 1) pause();
        else playing = requestAnimationFrame(frame);
      };
      playing = requestAnimationFrame(frame);
    }
    const rescale = (next) => {
      over = next;
      time.rescale(next);
    };
    return { value: time.value, set: time.set, rescale, play: start, pause, button: play };
  }

  // --- State and pictures -----------------------------------------------------------------------

  const written = (value) =>
    Array.isArray(value)
      ? value.map((each) => (Array.isArray(each) ? each.join() : each)).join(Array.isArray(value[0]) ? ";" : ",")
      : encodeURIComponent(value);
  /** A state as the end of an address: angle=2&X=1,0;0,1. */
  const encode = (state) =>
    Object.entries(state).map(([key, value]) => `${key}=${written(value)}`).join("&");

  /** The state that `text` tells, of the kind of `like`; what it lacks or garbles is as in `like`. */
  function decode(text, like) {
    const parts = Object.fromEntries(text.split("&").map((part) => part.split("=")));
    const numbers = (told) => told.split(",").map(number);
    const known = (value) => [value].flat(2).every((v) => typeof v === "number");
    const read = (told, model) => {
      if (typeof model === "string") return decodeURIComponent(told);
      if (!Array.isArray(model)) return number(told);
      if (!Array.isArray(model[0])) return numbers(told);
      const rows = told.split(";").map(numbers);
      return rows.every((row) => row.length === model[0].length) ? rows : null;
    };
    const state = { ...like };
    for (const [key, model] of Object.entries(like)) {
      try {
        const value = key in parts ? read(parts[key], model) : null;
        if (value !== null && (typeof model === "string" || known(value))) state[key] = value;
      } catch {
        // An address that was cut off within a letter: the state stays as it opens.
      }
    }
    return state;
  }

  /** A function that writes make(...) into the address when it has not been called for a while: a
   * browser refuses one that changes with every step of a drag. What has changed the address since
   * then is followed, and not written over. */
  function toAddress(make) {
    let before = "";
    const write = atRest((...told) => {
      if (location.hash === before) history.replaceState(null, "", make(...told));
    });
    return (...told) => {
      before = location.hash;
      write(...told);
    };
  }

  const pictures = new Map();
  const picture = (name, made) => pictures.set(name, made);

  /** Put a picture in its place; where that fails the still figure stays. */
  function mount(box) {
    const { picture: name, state: opens = "" } = box.dataset;
    const made = pictures.get(name);
    if (!made) return;
    const asked = () => {
      const [id, ...rest] = location.hash.slice(1).split("?");
      return id === box.id && rest.length ? rest.join("?") : null;
    };
    const first = decode(opens, made.state);
    /** What an address tells, if it is a state that can be drawn. */
    const told = (text) => {
      const state = decode(text, first);
      return !made.fits || made.fits(state) ? state : { ...first };
    };
    box.closest("details.offer")?.removeAttribute("hidden");
    const before = box.previousElementSibling;
    const stills = box.childElementCount
      ? [...box.children]
      : before?.matches(".cell") ? [...before.querySelectorAll(":scope > .cell_output")] : [];
    const stage = html("div", { class: "stage" });
    const address = (state) => `#${box.id}?${encode(state)}`;
    const remember = toAddress(address);
    const link = html("a", { href: "#" }, "A link to this picture");
    function keep(state) {
      atEase(link, () => (link.href = address(state)));
      remember(state);
    }
    box.append(stage);
    function build() {
      const state = told(asked() ?? "");
      const inner = html("div");
      stage.replaceChildren(inner);
      link.href = address(state);
      // What is still playing of a picture that is gone has nothing to keep.
      made.build(inner, state, (next) => inner.isConnected && keep(next));
      stage.append(html("p", { class: "link" }, link, " as it is now."));
    }
    try {
      build();
    } catch (error) {
      stage.remove();
      throw error;
    }
    for (const figure of stills) figure.classList.add("still");
    addEventListener("hashchange", () => {
      if (asked() !== null) build();
    });
  }

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".live[data-picture]").forEach(mount);
  });

  Object.assign(reluflow, { short, settled, point, tens, named, number, NUMBER, within, range, degrees });
  Object.assign(reluflow, { html, svg, mark, paint, soon, sliced, atRest, atEase, drawn, drag, coarsely, boxOf, colour, still, onLook });
  Object.assign(reluflow, { sentence, cells, button, chooser, scale, ticked, steps, slider, clock });
  Object.assign(reluflow, { encode, decode, toAddress, picture });
})();
