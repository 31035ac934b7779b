// The explorer's page: what a reader chooses, drags, types or pastes, and what it is told.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const cell = (text, name = "td") =>
    Object.assign(document.createElement(name), { textContent: text });

  function fill(table, head, rows) {
    const line = (cells, name) => {
      const row = document.createElement("tr");
      row.append(...cells.map((text) => cell(text, text ? name : "td")));
      return row;
    };
    table.replaceChildren(line(head, "th"), ...rows.map((cells) => line(cells, "td")));
  }

  const KINDS = { activate: "on", deactivate: "off", slide: "slides" };

  /** Write the data into a table: inputs that call `change` with the input, the row and the column,
   * and a button in each row that calls `remove`. */
  function editable(table, { X, y }, change, remove) {
    fill(
      table,
      ["", "x1", "x2", "y", ""],
      X.map((_, i) => [reluflow.named(i)]),
    );
    X.forEach((x, i) => {
      const row = table.rows[i + 1];
      [...x, y[i]].forEach((value, c) => {
        const input = Object.assign(document.createElement("input"), { value });
        input.setAttribute("aria-label", `${reluflow.named(i)}: ${["x1", "x2", "y"][c]}`);
        input.addEventListener("change", () => change(input, i, c));
        row.insertCell().append(input);
      });
      const button = Object.assign(document.createElement("button"), {
        type: "button",
        textContent: "×",
        disabled: X.length === 1,
      });
      button.setAttribute("aria-label", `remove ${reluflow.named(i)}`);
      button.addEventListener("click", () => remove(i));
      row.insertCell().append(button);
    });
  }

  function explorer() {
    const { short, point, are, fragment, number, KEEP, MOST_DATA } = reluflow;
    const find = (name) => document.getElementById(`explorer-${name}`);
    const [svg, canvas, list] = [find("plane"), find("loss"), find("example")];
    const examples = JSON.parse(find("examples").textContent);
    const handle = reluflow.handle();
    const ground = document.createElementNS(svg.namespaceURI, "g");
    const course = document.createElementNS(svg.namespaceURI, "g");
    const words = document.createElementNS(svg.namespaceURI, "g");
    svg.append(ground, course, words, handle);
    let state = null; // {X, y, w}
    let view = null; // {x, y, r}: the middle and half the width of the square that is shown
    let sets = []; // all local minima
    let flow = null;
    let still = null; // what the ground has for the words: labels and discs

    const frame = () => reluflow.frame(view, svg.clientWidth || 360);

    function showAll() {
      const points = [[0, 0], state.w, flow.end, ...reluflow.path(flow, 12)];
      points.push(...sets.filter(({ dimension }) => !dimension).map(({ w }) => w));
      view = reluflow.viewOf(points);
    }

    function drawGround() {
      const { size } = frame();
      svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
      reluflow.shade(canvas, frame(), state, sets[0]?.loss ?? 0);
      still = reluflow.ground(frame(), state, sets);
      ground.replaceChildren(...still.drawn);
    }

    const numbered = () =>
      flow.events.map((event, k) => ({ ...event, number: k + 1, w: reluflow.at(flow, event.t) }));

    function drawFlow() {
      const drawn = reluflow.course(frame(), flow, numbered());
      course.replaceChildren(...drawn.drawn);
      // The start may be far off the plane: a picture has fewer digits than a number.
      const start = frame().to(state.w).map((v) => Math.max(-1e5, Math.min(1e5, v)));
      handle.setAttribute("transform", `translate(${start.join(" ")})`);
      const labels = [...still.labels, ...drawn.labels, ...still.after];
      const discs = [...still.discs, ...drawn.discs, { at: start, r: 8 }];
      words.replaceChildren(...reluflow.words(frame(), labels, discs));
    }

    function tell() {
      const { w } = state;
      const events = numbered();
      handle.setAttribute("aria-valuenow", w[0]);
      handle.setAttribute("aria-valuetext", point(w));
      const end = reluflow.reached(sets, flow, state);
      find("told").textContent = reluflow.told(state, flow, sets, end);
      find("length").textContent = reluflow.toldLength(flow);
      fill(
        find("events"),
        ["", "time", "datum", "at w"],
        events.map((event) => [
          event.number,
          short(event.t),
          `${reluflow.named(event.datum)} ${KINDS[event.kind]}`,
          point(event.w),
        ]),
      );
      find("events").hidden = !events.length;
      fill(
        find("minima"),
        ["rank", "L", "where", "active"],
        sets.map((set) => [
          set.rank,
          short(set.loss),
          reluflow.where(set),
          set.support.map(reluflow.named).join(" ") || "none",
        ]),
      );
      const row = find("minima").rows[1 + sets.indexOf(end)];
      if (end) row.className = "end";
      for (const c of [0, 1]) {
        const input = find(`w${c + 1}`);
        input.setAttribute("aria-invalid", false);
        input.value = short(w[c]);
      }
      find("link").href = fragment(state);
    }

    /** Show a setting. The table of the data is kept where it was a cell of it that changed. */
    function show(next, says, card = "", keepTable = false) {
      state = next;
      flow = reluflow.flow(state.X, state.y, state.w);
      sets = reluflow.minima(state.X, state.y);
      if (!keepTable) editable(find("data"), state, changeCell, removeDatum);
      find("add").disabled = state.X.length >= MOST_DATA;
      const lines = state.X.map((x, i) => [...x, state.y[i]].join());
      find("csv").value = ["x1,x2,y", ...lines].join("\n");
      showAll();
      redraw();
      tell();
      const more = card
        ? [" ", Object.assign(document.createElement("a"), { href: card, textContent: "Its card" })]
        : [];
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
      const asked = reluflow.settingOf(location.hash);
      const known =
        asked &&
        !asked.wrong &&
        examples.findIndex((example) => fragment(example) === fragment(asked));
      if (!asked || asked.wrong) choose(0);
      else if (known >= 0) choose(known);
      else {
        list.value = "";
        show(asked, "The data and the start of this address.");
      }
      if (asked?.wrong) find("wrong").textContent = asked.wrong;
    }

    let waiting = 0; // a browser refuses an address that changes with every step of a drag
    function remember() {
      clearTimeout(waiting);
      waiting = setTimeout(() => history.replaceState(null, "", fragment(state)), 250);
    }

    function move(w) {
      state.w = w;
      flow = reluflow.flow(state.X, state.y, w);
      list.value = "";
      find("says").textContent = "";
      find("wrong").textContent = "";
      drawFlow();
      tell();
    }

    function changeData({ X, y }, keepTable = false) {
      list.value = "";
      show({ X, y, w: state.w }, "Your own data.", "", keepTable);
      remember();
    }

    function removeDatum(i) {
      const [X, y] = [state.X, state.y].map((all) => all.filter((_, k) => k !== i));
      changeData({ X, y });
      find("add").focus();
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
      changeData({ X, y }, true);
    }

    find("add").addEventListener("click", () =>
      changeData({ X: [...state.X, [1, 1]], y: [...state.y, 1] }),
    );
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
        bring();
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
    let dragged = false;
    handle.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      dragged = true;
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (dragged && svg.hasPointerCapture(event.pointerId)) move(at(event));
      else if (event.pointerType === "mouse") tellHere(at(event));
    });
    svg.addEventListener("lostpointercapture", () => {
      if (dragged) remember();
      dragged = false;
    });
    // A tap or a click takes the start there, and the arrow keys then move it on.
    function take(event) {
      move(at(event));
      remember();
      handle.focus({ preventScroll: true });
    }
    svg.addEventListener("click", (event) => {
      // Of a finger; one of the mouse may be the end of a drag.
      if (event.pointerType !== "mouse" && !handle.contains(event.target)) take(event);
    });
    handle.addEventListener("keydown", (event) => {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const way = ways[event.key];
      if (!way) return;
      event.preventDefault();
      const step = (view.r / 50) * (event.shiftKey ? 0.1 : 1);
      move(state.w.map((v, c) => Number((v + step * way[c]).toPrecision(12))));
      bring();
      remember();
    });
    handle.addEventListener("focus", bring);

    function tellHere(w) {
      const { X, y } = state;
      const loss = short(reluflow.loss(X, y, w));
      const active = are(reluflow.activeAt(X, w), X);
      find("here").textContent =
        `Under the pointer: w = ${point(w)}, L = ${loss}, ${active} active.`;
    }

    function redraw() {
      drawGround();
      drawFlow();
    }
    function look(next) {
      view = next;
      redraw();
    }
    /** Show the start where it has left the plane. */
    function bring() {
      const { x, y, r } = view;
      const out = state.w.some((v, c) => Math.abs(v - [x, y][c]) > r);
      if (out) look(reluflow.showing(view, state.w));
    }
    function reset() {
      showAll();
      redraw();
    }
    const zoom = reluflow.panning(svg, handle, { view: () => view, show: look, reset, tap: take });
    find("in").addEventListener("click", () => zoom(0.5));
    find("out").addEventListener("click", () => zoom(2));
    find("fit").addEventListener("click", reset);
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
  }

  addEventListener("DOMContentLoaded", () => {
    if (document.getElementById("explorer")) explorer();
  });
})();
