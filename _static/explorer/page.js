// The explorer's page: what a reader chooses, drags, types or pastes, and what it is told.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const { html, paint, short, point, number, loss } = reluflow;
  const KINDS = { activate: "on", deactivate: "off", slide: "slides" };
  const OWN = "Your own start.";
  const MANY_EVENTS = 8;
  const [COARSE, FINE] = [32, 96]; // cells of the ground in a row, while it moves and at rest
  const POINTS = 60; // of the path, at each end of a stretch between events

  function fill(table, head, rows) {
    const line = (cells, name) =>
      html("tr", {}, ...cells.map((text) => html(text ? name : "td", {}, text)));
    table.replaceChildren(line(head, "th"), ...rows.map((cells) => line(cells, "td")));
  }

  /** Write the data into a table: inputs that call `change` with the input, the row and the column,
   * and a button in each row that calls `remove`. */
  function editable(table, { X, y }, change, remove) {
    fill(
      table,
      ["", "first", "second", "label", ""],
      X.map((_, i) => [reluflow.named(i)]),
    );
    X.forEach((x, i) => {
      const row = table.rows[i + 1];
      [...x, y[i]].forEach((value, c) => {
        const label = `${reluflow.named(i)}: ${["first coordinate", "second coordinate", "label"][c]}`;
        const input = html("input", { value, "aria-label": label });
        input.addEventListener("change", () => change(input, i, c));
        row.insertCell().append(input);
      });
      const button = reluflow.button(row.insertCell(), "×", () => remove(i));
      button.disabled = X.length === 1;
      button.setAttribute("aria-label", `remove ${reluflow.named(i)}`);
    });
  }

  function explorer() {
    const { are, fragment, KEEP, MOST_DATA } = reluflow;
    const find = (name) => document.getElementById(`explorer-${name}`);
    const list = find("example");
    const examples = JSON.parse(find("examples").textContent);
    let state = null; // {X, y, w}
    let sets = []; // all local minima
    let listed = null; // those in the table
    let flow = null;
    let events = []; // those of the flow, t₁ at first
    let time = null; // its scale
    let share = 0; // of the clock's way that has gone
    let ground = null; // what the plane has for the words: labels and discs
    let whole = true; // false while more is to follow, and then all is drawn once
    const remember = reluflow.toAddress(() => fragment(state));

    // --- The weights ----------------------------------------------------------------------------

    const plane = reluflow.plane(find("weights"), {
      label: "The plane of weights, with the flow: the arrow keys move it, + and − zoom, 0 resets the view",
      canvas: true,
      first: showAll,
      draw: drawAll,
      tap(w) {
        move(w);
        remember();
        start.group.focus({ preventScroll: true });
      },
    });
    const { svg } = plane;
    svg.id = "explorer-plane";
    const [curves, under, course, words, marker] = ["", "", "", "", ""].map(plane.layer);
    const start = reluflow.draggable(plane, {
      label: "The start w(0): the arrow keys move it",
      kind: "start",
      at: () => state.w,
      move,
      done: remember,
      seen: bring,
    });

    function showAll() {
      const points = [[0, 0], state.w, flow.end, ...reluflow.path(flow, 12)];
      points.push(...sets.filter(({ dimension }) => !dimension).map(({ w }) => w));
      return reluflow.viewOf(points);
    }

    const finer = reluflow.atRest(() => {
      const frame = plane.frame();
      shade(frame, FINE);
      ground.after = reluflow.cells(frame, state);
      drawFlow();
    }, 120);

    function drawAll(frame) {
      shade(frame, COARSE);
      finer();
      ground = reluflow.ground(frame, state, sets);
      paint(under, ...ground.drawn);
      flowed();
    }

    function shade(frame, cells) {
      const { X, y } = state;
      const d = reluflow.shade(plane.canvas, frame, (w) => loss(X, y, w), cells);
      paint(curves, reluflow.mark("path", { class: "level", d }));
    }

    const flowed = reluflow.coarsely((fine) => drawFlow(fine ? POINTS : POINTS / 5));
    function drawFlow(many = POINTS) {
      const frame = plane.frame();
      const drawn = reluflow.course(frame, flow, events, many);
      paint(course, ...drawn.drawn);
      const labels = [...ground.labels, ...drawn.labels, ...ground.after];
      const discs = [...ground.discs, ...drawn.discs, { at: start.place(), r: 8 }];
      paint(words, ...reluflow.words(frame, labels, discs));
      drawNow();
    }

    // --- The data, and the time -----------------------------------------------------------------

    const inputs = reluflow.inputs(find("inputs"), {
      state: () => state,
      move(i, x) {
        state.X = state.X.map((each, k) => (k === i ? x : each));
        own("Your own data.");
        changed(false);
      },
      done() {
        writeData();
        remember();
      },
    });
    inputs.plane.svg.id = "explorer-data-plane";

    const clock = reluflow.clock(find("time"), {
      over: reluflow.scale(0, 1),
      value: 0,
      told: (t) => `t = ${short(t, 3)}`,
      show: showTime,
      stops: () => events.map(({ t }) => time.share(t)),
    });
    const tellNow = reluflow.sentence(find("time"), "here now");
    const chart = reluflow.chart(find("time"), {
      label: "The loss L against the time t",
      high: 170,
      x: reluflow.scale(0, 1),
      y: reluflow.scale(0, 1),
      names: ["t", "L(w(t))"],
      draw: drawLoss,
    });
    const [curve, moment] = [chart.layer(), chart.layer()];

    function drawLoss(frame) {
      if (!time) return;
      paint(curve, ...reluflow.lossCurve(frame, flow, state, time, events));
      drawNow();
    }

    function drawNow() {
      if (!whole) return;
      const { X, y } = state;
      const t = clock.value();
      const w = reluflow.at(flow, t);
      const at = plane.frame().to(w).map((v) => Math.max(-1e5, Math.min(1e5, v)));
      reluflow.drawn(marker, () => paint(marker, reluflow.disc("now", { at, r: 6 })));
      reluflow.drawn(moment, () => paint(moment, ...reluflow.moment(chart.frame(), t, loss(X, y, w))));
      inputs.show(w);
      tellNow(() => `w = ${point(w)}, L = ${reluflow.lossAt(state, w)}; ${are(reluflow.activeAt(X, w), X)} active.`);
    }

    function showTime(t) {
      share = time.share(t);
      drawNow();
    }

    chart.svg.addEventListener("pointerdown", (event) => {
      const to = (each) => {
        const t = Math.max(0, Math.min(time.last, chart.at(each)[0]));
        clock.pause();
        clock.set(t);
        showTime(t);
      };
      chart.svg.setPointerCapture(event.pointerId);
      chart.svg.onpointermove = (each) => chart.svg.hasPointerCapture(each.pointerId) && to(each);
      to(event);
    });

    // --- What follows from the data and the start -----------------------------------------------

    function follows() {
      whole = false;
      flow = reluflow.flow(state.X, state.y, state.w);
      events = flow.events.map((event, k) => ({ ...event, name: reluflow.named(k).replace("x", "t"), w: reluflow.at(flow, event.t) }));
      time = reluflow.timeScale(flow);
      find("time").hidden = !flow.segments.length; // there is none to go through
      clock.rescale(time);
      clock.set(time.value(share));
      const [first, last] = [state.w, flow.end].map((w) => loss(state.X, state.y, w));
      chart.rescale({ x: time, y: reluflow.lossScale(first, last) });
      whole = true;
    }

    /** Show the data and the start, and the whole of them where `fit` is set. */
    function changed(fit = true) {
      sets = reluflow.minima(state.X, state.y);
      inputs.data(fit);
      follows();
      if (fit) plane.reset();
      else plane.redraw();
      tell();
    }

    const tell = () => reluflow.atEase(list, telling);
    function telling() {
      find("here").textContent = "";
      const end = reluflow.reached(sets, flow, state);
      find("told").textContent = reluflow.told(state, flow, sets, end);
      find("told").dataset.status = flow.status;
      find("length").textContent = flow.segments.length ? reluflow.toldLength(flow) : "";
      fill(
        find("events"),
        ["event", "time", "datum", "at w"],
        events.map((event) => [
          event.name,
          short(event.t),
          `${reluflow.named(event.datum)} ${KINDS[event.kind]}`,
          point(event.w),
        ]),
      );
      const many = events.length > MANY_EVENTS;
      find("happens").hidden = !events.length;
      if (find("happens").dataset.many !== String(many)) {
        find("happens").open = !many;
        find("happens").dataset.many = many;
      }
      find("count").textContent = `${events.length} event${events.length === 1 ? "" : "s"}`;
      if (listed !== sets) {
        fill(
          find("minima"),
          ["rank", "L", "where", "active"],
          sets.map((set) => [
            set.rank,
            short(set.loss),
            reluflow.where(set),
            set.support.length ? reluflow.few(set.support, state.X) : "none",
          ]),
        );
      }
      listed = sets;
      sets.forEach((set, k) => (find("minima").rows[k + 1].className = set === end ? "end" : ""));
      for (const c of [0, 1]) {
        const input = find(`w${c + 1}`);
        input.setAttribute("aria-invalid", false);
        input.value = short(state.w[c]);
      }
      find("link").href = fragment(state);
    }

    function writeData(keepTable = false) {
      if (!keepTable) editable(find("data"), state, changeCell, removeDatum);
      find("add").disabled = state.X.length >= MOST_DATA;
      const lines = state.X.map((x, i) => [...x, state.y[i]].join());
      find("csv").value = ["x1,x2,y", ...lines].join("\n");
    }

    /** Show a setting. The table of the data is kept where it was a cell of it that changed. */
    function show(next, keepTable = false, fit = true) {
      state = next;
      share = 0;
      clock.pause();
      writeData(keepTable);
      changed(fit);
      find("wrong").textContent = "";
    }

    /** Say that this is the reader's own. */
    function own(says) {
      reluflow.atEase(own, () => {
        list.value = "own";
        find("says").textContent = says;
        find("wrong").textContent = "";
      });
    }

    function choose(k) {
      const { X, y, w, says, question, answer } = examples[k];
      const same = ({ X, y, w }) => fragment({ X, y, w }) === fragment(examples[k]);
      const cards = examples.filter((each) => each.card && same(each));
      const links = cards.map(({ card, name }) => html("a", { href: card }, name));
      list.value = question ? k : "own";
      const more = links.flatMap((link, i) => [i ? "; " : says.startsWith("The counter") ? "" : " Refuted here: ", link]);
      const begins = says.startsWith("The counter") ? "A counterexample to " : says;
      find("says").replaceChildren(html("strong", {}, answer), answer && " ", begins, ...more, links.length ? "." : "");
      show({ X, y, w });
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
        own("The data and the start of this address.");
        show(asked);
      }
      if (asked?.wrong) find("wrong").textContent = asked.wrong;
    }

    function move(w) {
      state.w = w;
      own(OWN);
      follows();
      flowed();
      tell();
    }

    /** Other data, from the start that is shown, or from one near 0 and with all in view. */
    function changeData({ X, y }, { keepTable = false, fresh = false } = {}) {
      const w = fresh ? reluflow.nearZero({ X, y }) : state.w;
      own(fresh ? "Your own data, from a start near 0." : "Your own data.");
      show({ X, y, w }, keepTable, fresh);
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
      changeData({ X, y }, { keepTable: true });
    }

    find("add").addEventListener("click", () =>
      changeData({ X: [...state.X, [1, 1]], y: [...state.y, 1] }),
    );
    find("use").addEventListener("click", () => {
      const read = reluflow.readCsv(find("csv").value);
      if (read.wrong) find("wrong").textContent = read.wrong;
      else changeData(read, { fresh: true });
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

    svg.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "mouse" || event.buttons) return;
      const { X, y } = state;
      const w = plane.at(event);
      const on = are(reluflow.activeAt(X, w), X);
      find("here").textContent =
        `Under the pointer: w = ${point(w)}, L = ${short(loss(X, y, w))}, ${on} active.`;
    });
    svg.addEventListener("pointerleave", () => (find("here").textContent = ""));

    /** Show the start where it has left the plane. */
    function bring() {
      const { x, y, r } = plane.view();
      const out = state.w.some((v, c) => Math.abs(v - [x, y][c]) > r);
      if (out) plane.look(reluflow.showing(plane.view(), state.w));
    }
    find("in").addEventListener("click", () => plane.zoom(0.5));
    find("out").addEventListener("click", () => plane.zoom(2));
    find("fit").addEventListener("click", () => (plane.reset(), inputs.plane.reset()));
    list.addEventListener("change", () => (choose(Number(list.value)), remember()));
    addEventListener("hashchange", follow);

    examples.forEach(({ question }, k) => question && list.append(new Option(question, k)));
    const mine = new Option("Your own: drag, type or paste", "own");
    mine.disabled = true;
    find("legend").open = matchMedia("(min-width: 40rem)").matches;
    list.append(mine);
    follow();
  }

  addEventListener("DOMContentLoaded", () => {
    if (document.getElementById("explorer")) explorer();
  });
})();
