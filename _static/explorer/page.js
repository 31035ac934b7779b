// The explorer's page: what a reader chooses, drags, types or pastes, and what it is told.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const MOST_DATA = 200;
  const [LEAST, LARGEST] = [1e-30, 1e30]; // as in reluflow.datasets
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const KEEP = "the data stay as they were.";
  const KINDS = { activate: "switched on", deactivate: "switched off", slide: "slides along its boundary" };

  /** A number of a size that can be computed with, or a sentence's second half. */
  function number(cell) {
    const text = cell.trim();
    const shown = text.length > 20 ? `${text.slice(0, 20)}…` : text;
    if (!NUMBER.test(text)) return `“${shown}” is not a number`;
    const value = Number(text);
    const size = Math.abs(value);
    if (value !== 0 && !(size >= LEAST && size <= LARGEST)) {
      return `${shown} is too ${size > LARGEST ? "large" : "small"}`;
    }
    return value + 0; // no -0
  }

  /** {X, y} of a text with a datum a line, or {wrong}, one sentence that names the line. */
  reluflow.readCsv = (text) => {
    const [X, y] = [[], []];
    const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
    let head = true;
    for (const [k, line] of lines.entries()) {
      if (!line.trim()) continue;
      const cells = line.split(/[,;\t]/);
      const isHeader = head && cells.every((cell) => !NUMBER.test(cell.trim()));
      head = false;
      if (cells.length !== 3) {
        const count = cells.length === 1 ? "1 value" : `${cells.length} values`;
        return { wrong: `Line ${k + 1} has ${count} where three are needed, x1,x2,y: ${KEEP}` };
      }
      if (isHeader) continue;
      const values = cells.map(number);
      const bad = values.find((value) => typeof value === "string");
      if (bad) return { wrong: `Line ${k + 1}: ${bad}, so ${KEEP}` };
      X.push(values.slice(0, 2));
      y.push(values[2]);
    }
    if (!X.length) return { wrong: `There is no line with a datum, x1,x2,y: ${KEEP}` };
    if (X.length > MOST_DATA) {
      return { wrong: `There are ${X.length} data, and at most ${MOST_DATA} are drawn: ${KEEP}` };
    }
    return { X, y };
  };

  /** The end of the address that shows a setting, as reluflow.ledger.explorer writes it. */
  const fragment = ({ X, y, w }) => `#X=${X.map((x) => x.join()).join(";")}&y=${y.join()}&w=${w.join()}`;

  /** The setting {X, y, w} of such an end, {wrong}, or null where it shows none. */
  function settingOf(hash) {
    const parts = Object.fromEntries(hash.slice(1).split("&").map((part) => part.split("=")));
    if (!("X" in parts)) return null;
    const rows = (parts.X ?? "").split(";");
    const labels = (parts.y ?? "").split(",");
    const start = (parts.w ?? "").split(",").map(number);
    const data = reluflow.readCsv(rows.map((row, k) => `${row},${labels[k] ?? ""}`).join("\n"));
    const fits = rows.length === labels.length && start.length === 2;
    if (data.wrong || data.X.length !== rows.length || !fits || !start.every(Number.isFinite)) {
      return { wrong: "The address shows no data that can be read: here is an example." };
    }
    return { ...data, w: start };
  }

  const short = (v) => String(Number(v.toPrecision(5)));
  const point = (w) => `(${w.map(short).join(", ")})`;
  const listed = (data) => {
    const names = data.map(reluflow.named);
    if (names.length < 3) return names.join(" and ");
    return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  };
  const are = (data) => (data.length ? `${listed(data)} ${data.length > 1 ? "are" : "is"}` : "no datum is");
  const cell = (text, name = "td") => Object.assign(document.createElement(name), { textContent: text });

  function fill(table, head, rows) {
    const line = (cells, name) => {
      const row = document.createElement("tr");
      row.append(...cells.map((text) => cell(text, name)));
      return row;
    };
    table.replaceChildren(line(head, "th"), ...rows.map((cells) => line(cells, "td")));
  }

  /** The local minimum in which a flow has ended, if it is one. */
  function reached(sets, { end }, { X, y }) {
    const loss = reluflow.loss(X, y, end);
    const close = 1e-9 * (reluflow.loss(X, y, [0, 0]) + loss);
    const size = 1e-6 * Math.max(...sets.map(({ w }) => Math.hypot(...w)), Math.hypot(...end));
    const active = new Set(X.map((_, j) => j));
    return sets.find((set) => {
      if (Math.abs(set.loss - loss) > close) return false;
      if (set.dimension === 2) return !reluflow.activeAt(X, end).length;
      const away = [end[0] - set.w[0], end[1] - set.w[1]];
      const v = set.directions[0] ?? [0, 0];
      const along = away[0] * v[0] + away[1] * v[1];
      return Math.hypot(away[0] - along * v[0], away[1] - along * v[1]) <= size;
    });
  }

  function explorer(root) {
    const find = (name) => document.getElementById(`explorer-${name}`);
    const [svg, canvas, list] = [find("plane"), find("loss"), find("example")];
    const examples = JSON.parse(find("examples").textContent);
    const handle = reluflow.handle();
    const ground = document.createElementNS(svg.namespaceURI, "g");
    const course = document.createElementNS(svg.namespaceURI, "g");
    svg.append(ground, course, handle);
    let state = null; // {X, y, w}
    let view = null; // {x, y, r}: the middle and half the width of the square that is shown
    let sets = []; // all local minima
    let flow = null;

    const frame = () => reluflow.frame(view, svg.clientWidth || 360);

    function showAll() {
      const points = [[0, 0], state.w, flow.end, ...reluflow.path(flow, 12)];
      points.push(...sets.filter(({ dimension }) => dimension < 2).map(({ w }) => w));
      const [low, high] = [Math.min, Math.max].map((pick) => [0, 1].map((c) => pick(...points.map((p) => p[c]))));
      const r = 0.62 * Math.max(high[0] - low[0], high[1] - low[1]) || 1;
      view = { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, r };
    }

    function drawGround() {
      const { size } = frame();
      svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
      reluflow.shade(canvas, frame(), state, sets[0]?.loss ?? 0);
      ground.replaceChildren(...reluflow.ground(frame(), state, sets));
    }

    function drawFlow() {
      const { X, y, w } = state;
      const events = flow.events.map((event, k) => ({ ...event, number: k + 1, w: reluflow.at(flow, event.t) }));
      course.replaceChildren(...reluflow.course(frame(), flow, events));
      handle.setAttribute("transform", `translate(${frame().to(w).join(" ")})`);
      handle.setAttribute("aria-valuenow", w[0]);
      handle.setAttribute("aria-valuetext", point(w));
      const end = reached(sets, flow, state);
      find("told").textContent = told(end);
      fill(find("events"), ["", "time", "what", "at w"], events.map((event) => [
        event.number, short(event.t), `${reluflow.named(event.datum)} ${KINDS[event.kind]}`, point(event.w),
      ]));
      if (!events.length) find("events").replaceChildren(cell("No datum is switched.", "caption"));
      fill(find("minima"), ["rank", "L", "where", "active"], sets.map((set) => [
        set.rank, short(set.loss), where(set), set.support.map(reluflow.named).join(" ") || "none",
      ]));
      const row = find("minima").rows[1 + sets.indexOf(end)];
      if (end) row.className = "end";
      for (const c of [0, 1]) {
        const input = find(`w${c + 1}`);
        if (input !== document.activeElement) input.value = short(w[c]);
      }
      find("link").href = fragment(state);
    }

    function where(set) {
      if (set.dimension === 2) return "a whole cell";
      return set.dimension ? `a line through ${point(set.w)}` : point(set.w);
    }

    /** One or two sentences on the flow: from where, what happens, where it ends. */
    function told(end) {
      const { X, y, w } = state;
      const { events, status, detail } = flow;
      const from = `From ${point(w)}, where ${are(reluflow.activeAt(X, w))} active, the flow`;
      const count = events.length === 1 ? "1 event" : `${events.length} events`;
      const loss = `L = ${short(reluflow.loss(X, y, flow.end))}`;
      if (status === "non-unique" || status === "horizon") {
        return `${from} stops after ${count} at ${point(flow.end)}, ${loss}: ${detail} (${status}).`;
      }
      const dead = !reluflow.activeAt(X, flow.end).length && detail.startsWith("no datum");
      const goes = dead && !events.length
        ? "stays where it is: no datum is active, and the neuron is dead"
        : `${dead ? "dies" : "converges"} after ${count} at ${point(flow.end)}, ${loss}`;
      const how = status === "sliding" ? ", sliding along a boundary" : "";
      const ranks = Math.max(...sets.map(({ rank }) => rank));
      const rank = !end
        ? "This is no local minimum."
        : end.rank === 1
          ? "This is a global minimum."
          : `This is a local minimum of rank ${end.rank} of ${ranks}; the global one has L = ${short(sets[0].loss)}.`;
      return `${from} ${goes}${how} (${status}). ${rank}`;
    }

    /** Show other data, or other starts of the same ones. */
    function show(next, says = "", card = "") {
      const same = state && fragment({ ...next, w: [0, 0] }) === fragment({ ...state, w: [0, 0] });
      state = next;
      flow = reluflow.flow(state.X, state.y, state.w);
      if (!same) {
        sets = reluflow.minima(state.X, state.y);
        fillData();
      }
      showAll();
      drawGround();
      drawFlow();
      const more = card ? [" ", Object.assign(document.createElement("a"), { href: card, textContent: "Its card" })] : [];
      find("says").replaceChildren(says, ...more);
      find("wrong").textContent = "";
    }

    function choose(k) {
      const { X, y, w, says, card } = examples[k];
      list.value = k;
      show({ X, y, w }, says, card);
    }

    /** Show what the address asks for: a setting, by its name where it is one of the examples. */
    function follow() {
      const asked = settingOf(location.hash);
      const known = asked && !asked.wrong && examples.findIndex((example) => fragment(example) === fragment(asked));
      if (!asked || asked.wrong) choose(0);
      else if (known >= 0) choose(known);
      else {
        list.value = "";
        show(asked, "The data and the start of this address.");
      }
      if (asked?.wrong) find("wrong").textContent = asked.wrong;
    }

    const remember = () => history.replaceState(null, "", fragment(state));

    function move(w) {
      state.w = w;
      flow = reluflow.flow(state.X, state.y, w);
      list.value = "";
      find("says").textContent = "";
      find("wrong").textContent = "";
      drawFlow();
    }

    function changeData({ X, y }) {
      list.value = "";
      show({ X, y, w: state.w }, "Your own data.");
      remember();
    }

    // The table of the data, and the text that can be pasted.
    function fillData() {
      const { X, y } = state;
      fill(find("data"), ["", "x1", "x2", "y", ""], X.map((_, i) => [reluflow.named(i)]));
      X.forEach((x, i) => {
        [...x, y[i]].forEach((value, c) => {
          const input = document.createElement("input");
          input.value = value;
          input.setAttribute("aria-label", `${reluflow.named(i)}: ${["x1", "x2", "y"][c]}`);
          input.addEventListener("change", () => changeCell(input, i, c));
          const td = cell("");
          td.append(input);
          find("data").rows[i + 1].append(td);
        });
        const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "remove" });
        remove.setAttribute("aria-label", `remove ${reluflow.named(i)}`);
        remove.disabled = X.length === 1;
        remove.addEventListener("click", () =>
          changeData({ X: X.filter((_, k) => k !== i), y: y.filter((_, k) => k !== i) }));
        const td = cell("");
        td.append(remove);
        find("data").rows[i + 1].append(td);
      });
      find("add").disabled = X.length >= MOST_DATA;
      find("csv").value = ["x1,x2,y", ...X.map((x, i) => [...x, y[i]].join())].join("\n");
    }

    function changeCell(input, i, c) {
      const value = number(input.value);
      const wrong = typeof value === "string";
      input.setAttribute("aria-invalid", wrong);
      if (wrong) {
        find("wrong").textContent = `In the row of ${reluflow.named(i)}, ${value}, so ${KEEP}`;
        return;
      }
      const [X, y] = [state.X.map((x) => x.slice()), state.y.slice()];
      if (c < 2) X[i][c] = value;
      else y[i] = value;
      changeData({ X, y });
    }

    find("add").addEventListener("click", () =>
      changeData({ X: [...state.X, [1, 1]], y: [...state.y, 1] }));
    find("use").addEventListener("click", () => {
      const read = reluflow.readCsv(find("csv").value);
      if (read.wrong) find("wrong").textContent = read.wrong;
      else changeData(read);
    });
    for (const c of [0, 1]) {
      const input = find(`w${c + 1}`);
      input.addEventListener("change", () => {
        const value = number(input.value);
        const wrong = typeof value === "string";
        input.setAttribute("aria-invalid", wrong);
        if (wrong) {
          find("wrong").textContent = `For the start, ${value}, so it stays where it was.`;
          return;
        }
        move(state.w.map((v, k) => (k === c ? value : v)));
        remember();
      });
    }

    // The start: by mouse, finger and keys.
    const at = (event) => {
      const box = svg.getBoundingClientRect();
      const { from, perPixel } = frame();
      const digits = Math.max(0, 1 - Math.floor(Math.log10(perPixel)));
      const p = from([event.clientX - box.left, event.clientY - box.top]);
      return p.map((v) => Number(v.toFixed(Math.min(digits, 100))) + 0);
    };
    svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      // A finger drags the start itself; elsewhere it scrolls the page, or taps.
      if (event.pointerType !== "mouse" && !handle.contains(event.target)) return;
      svg.setPointerCapture(event.pointerId);
      if (!handle.contains(event.target)) move(at(event));
    });
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) move(at(event));
      else if (event.pointerType === "mouse") tellHere(at(event));
    });
    svg.addEventListener("lostpointercapture", remember);
    svg.addEventListener("click", (event) => {
      if (event.pointerType === "mouse" || handle.contains(event.target)) return;
      move(at(event));
      remember();
    });
    handle.addEventListener("keydown", (event) => {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const way = ways[event.key];
      if (!way) return;
      event.preventDefault();
      const step = (view.r / 50) * (event.shiftKey ? 0.1 : 1);
      move(state.w.map((v, c) => Number((v + step * way[c]).toPrecision(12))));
      remember();
    });

    function tellHere(w) {
      const { X, y } = state;
      const loss = short(reluflow.loss(X, y, w));
      find("here").textContent = `Under the pointer: w = ${point(w)}, L = ${loss}, ${are(reluflow.activeAt(X, w))} active.`;
    }

    function redraw() {
      drawGround();
      drawFlow();
    }
    function zoom(by) {
      // The start stays where it is on the screen.
      const [x, y] = state.w;
      view = { x: x + (view.x - x) * by, y: y + (view.y - y) * by, r: view.r * by };
      redraw();
    }
    find("in").addEventListener("click", () => zoom(0.5));
    find("out").addEventListener("click", () => zoom(2));
    find("fit").addEventListener("click", () => (showAll(), redraw()));
    list.addEventListener("change", () => (choose(Number(list.value)), remember()));
    addEventListener("hashchange", follow);

    for (const group of new Set(examples.map((example) => example.group))) {
      const options = Object.assign(document.createElement("optgroup"), { label: group });
      examples.forEach((example, k) => {
        if (example.group === group) options.append(new Option(example.name, k));
      });
      list.append(options);
    }
    follow();
    new ResizeObserver(redraw).observe(svg);
    const themes = { attributes: true, attributeFilter: ["data-theme"] };
    new MutationObserver(redraw).observe(document.documentElement, themes);
    root.dataset.ready = "";
  }

  addEventListener("DOMContentLoaded", () => {
    const root = document.getElementById("explorer");
    if (root) explorer(root);
  });
})();
