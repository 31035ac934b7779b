// The table of all claims: filtered, searched, sorted and paged by DataTables. What is asked stands
// in the page's address, so that it can be linked: #paper=lee2022support&verdict=refuted.
(() => {
  const element = document.getElementById("claims");
  const form = document.getElementById("asked");
  const names = [...element.tHead.rows[0].cells].map((cell) => cell.className);
  const filters = [...form.elements].filter((control) => control.name);
  const table = new DataTable(element, {
    autoWidth: false,
    columns: names.map((name) => ({ name, orderable: name !== "says" && name !== "why" })),
    layout: {
      top2: () => form,
      topStart: "info",
      topEnd: "search",
      bottomStart: null,
      bottomEnd: "paging",
    },
    language: {
      info: "_TOTAL_ of _MAX_ claims shown, _START_ to _END_ on this page",
      infoEmpty: "0 of _MAX_ claims shown",
      infoFiltered: "",
      search: "search",
      zeroRecords: "No claim is like that.",
    },
    order: [],
    pageLength: 25,
  });
  form.hidden = false;
  // DataTables marks a click as its own in a way that the theme's copy buttons take for theirs.
  table.table().container().addEventListener("click", (event) => event.stopPropagation());

  let set = new Promise((loaded) => addEventListener("load", loaded));
  read();
  table.on("draw", () => {
    write();
    typeset();
  });
  form.addEventListener("change", () => {
    filter();
    table.draw();
  });
  form.addEventListener("reset", () => {
    location.hash = "";
  });
  addEventListener("hashchange", read);

  // On paper there are no pages of a table, and no time to set a formula later.
  let [length, page] = [0, 0];
  addEventListener("beforeprint", () => {
    [length, page] = [table.page.len(), table.page()];
    table.page.len(-1).draw();
    MathJax.typeset([element.tBodies[0]]);
  });
  addEventListener("afterprint", () => table.page.len(length).page(page).draw("page"));

  // What the address asks for.
  function read() {
    const hash = location.hash.slice(1);
    const asked = new URLSearchParams(hash);
    for (const control of filters) control.value = asked.get(control.name) ?? "";
    filter();
    const order = asked.get("order") ?? "";
    const column = names.indexOf(order.replace(/^-/, ""));
    table.order(column < 0 ? [] : [[column, order.startsWith("-") ? "desc" : "asc"]]);
    table.search(asked.get("search") ?? "").draw();
    if (hash && !hash.includes("=")) show(table.row(`#${CSS.escape(hash)}`));
    typeset();
  }

  function filter() {
    for (const { name, value } of filters) {
      // The cell of a paper holds the name of its files before what is read; else both are one.
      const exact = name !== "paper";
      table.column(`${name}:name`).search(value, { exact, smart: false });
    }
  }

  // The row of one claim, on whatever page it is. Formulas that are set move it.
  function show(row) {
    if (!row.any()) return;
    const place = table.rows({ search: "applied" }).indexes().indexOf(row.index());
    table.page(Math.floor(place / table.page.len())).draw("page");
    const node = row.node();
    node.tabIndex = -1;
    typeset().then(() => {
      node.scrollIntoView();
      node.focus({ preventScroll: true });
    });
  }

  function write() {
    const asked = new URLSearchParams();
    for (const { name, value } of filters) if (value) asked.set(name, value);
    if (table.search()) asked.set("search", table.search());
    const [[column, way] = []] = table.order();
    if (way) asked.set("order", (way === "desc" ? "-" : "") + names[column]);
    const hash = asked.size ? `#${asked}` : location.hash.includes("=") ? "#" : location.hash;
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }

  // MathJax sets the rows that are on the page, and the others when they come.
  function typeset() {
    set = set
      .then(() => MathJax.startup.promise)
      .then(() => MathJax.typesetPromise([element.tBodies[0]]));
    return set;
  }
})();
