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

  // What the address asks for.
  function read() {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const control of filters) {
      control.value = asked.get(control.name) ?? "";
    }
    filter();
    const order = asked.get("order") ?? "";
    const column = names.indexOf(order.replace(/^-/, ""));
    table.order(column < 0 ? [] : [[column, order.startsWith("-") ? "desc" : "asc"]]);
    table.search(asked.get("search") ?? "").draw();
    show(location.hash.slice(1));
  }

  function filter() {
    for (const { name, value } of filters) {
      // Of a paper the cell holds the name of its file and what is read; else the value is all.
      const exact = name !== "paper";
      table.column(`${name}:name`).search(value, { exact, smart: false });
    }
  }

  // The row of one claim, wherever it is.
  function show(id) {
    const row = id && !id.includes("=") ? table.row(`#${CSS.escape(id)}`) : null;
    if (!row?.any()) return;
    const place = table.rows({ search: "applied" }).indexes().indexOf(row.index());
    table.page(Math.floor(place / table.page.len())).draw("page");
    row.node().scrollIntoView();
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

  // MathJax sets the rows that are there when it comes, and those of another page when they come.
  function typeset() {
    const { startup } = window.MathJax ?? {};
    if (!startup) return;
    startup.promise = startup.promise.then(() => MathJax.typesetPromise([element.tBodies[0]]));
  }

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
})();
