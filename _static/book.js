// What a page needs beside its theme: cards that open, contents that follow, tables in order, and
// a cue where something has to be scrolled sideways.
const all = (selector) => [...document.querySelectorAll(selector)];

// What the end of an address names, a live picture also with its state behind a question mark; null
// where it is no proper address.
function named(hash) {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1).split("?")[0]));
  } catch {
    return null;
  }
}

// A link to a claim opens its card, which may be folded, and one to a picture what it is folded into.
function goToTarget() {
  const target = named(location.hash);
  const folded = target?.closest("details");
  if (folded) folded.open = true;
  target?.scrollIntoView();
}

// The formulas move what stands below them, so a jump is made again when they are set; but not if
// the reader has moved on.
async function settle() {
  const reading = new AbortController();
  for (const act of ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"]) {
    addEventListener(act, () => reading.abort(), { once: true, passive: true });
  }
  await window.MathJax?.startup?.promise;
  if (!reading.signal.aborted) goToTarget();
  markScrolled();
}

// The contents mark the last heading above the line below which a jump lands.  What stands too near
// the end of the page to come up there is marked when it has been jumped to, or is the last.
function followContents() {
  const links = all(".bd-toc nav a").filter((link) => link.hash.length > 1);
  const parts = links.map((link) => named(link.hash));
  const panel = document.querySelector(".bd-sidebar-secondary");
  if (!links.length) return;

  function mark() {
    const { scrollHeight } = document.documentElement;
    const line = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 16;
    const end = scrollY > 0 && scrollY + innerHeight >= scrollHeight - 2;
    const top = (part) => part.getBoundingClientRect().top;
    let read = parts.findLastIndex((part) => top(part) <= (end ? innerHeight : line));
    const jumped = links.findIndex((link) => link.hash === location.hash);
    if (end && jumped >= 0 && top(parts[jumped]) >= 0) read = jumped;
    links.forEach((link, k) => {
      link.classList.toggle("active", k === read);
      k === read ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    });
    for (const entry of all(".bd-toc .toc-entry")) {
      entry.classList.toggle("active", entry.contains(links[read] ?? null));
    }
    if (read >= 0) {
      const [seen, box] = [links[read].getBoundingClientRect(), panel.getBoundingClientRect()];
      if (seen.bottom > box.bottom) panel.scrollTop += seen.bottom - box.bottom + 40;
      if (seen.top < box.top) panel.scrollTop -= box.top - seen.top + 40;
    }
  }

  let waiting = 0;
  const soon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(mark);
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("hashchange", soon);
  new ResizeObserver(soon).observe(document.body);
}

// pandas puts the names of the index into a row of their own, and says nothing of a column's kind.
function orderTables() {
  const number = (words) => !/\p{L}|^[({]/u.test(words.replace(/\b(of|to)\b|e(?=[-‑]?\d)/g, ""));
  for (const table of all("table.dataframe")) {
    const [head, names] = table.tHead?.rows ?? [];
    const blank = (row, k) => !row.cells[k]?.textContent.trim();
    if (names && [...names.cells].every((_, k) => blank(head, k) || blank(names, k))) {
      [...names.cells].forEach((cell, k) => blank(names, k) || head.cells[k].replaceWith(cell.cloneNode(true)));
      names.remove();
    }
    const rows = [...table.tBodies[0].rows];
    const width = head?.cells.length ?? 0;
    for (let k = 1; k <= width; k += 1) {
      const cells = rows.map((row) => row.cells[row.cells.length - k]);
      const words = cells.map((cell) => cell?.textContent.trim() ?? "");
      if (cells.every((cell) => cell?.tagName === "TD") && words.every(number) && /\d/.test(words)) {
        for (const cell of [head.cells[width - k], ...cells]) cell.classList.add("number");
      }
    }
  }
}

// What is wider than its place scrolls by itself: it fades where there is more, and keys reach it.
// A formula is first set in smaller type, by a quarter at most; one with a number fills its line.
const WIDE = "div.math, pre, .cell_output, .output, .output > div, .pst-scrollable-table-container, mjx-container, .totals";
const fitted = new WeakMap(); // widths for which formulas are set: to set one changes its size, which
// brings it here again, without end.
const hidden = (box) => box.scrollWidth - box.clientWidth; // two pixels are rounding
function mark(boxes) {
  const asked = boxes.filter((box) => box.matches(".math, .math > mjx-container"))
    .map((box) => [box, box.closest(".math")])
    .filter(([box, { clientWidth }]) => fitted.get(box) !== clientWidth && !box.querySelector("mjx-labels"));
  for (const [box, { clientWidth }] of asked) fitted.set(box, clientWidth);
  // All is read, then all is written: what is read after something is written is laid out anew.
  for (const [, { style }] of asked) style.fontSize = "";
  const sizes = asked.map(([box]) =>
    hidden(box) > 2 ? `${Math.max(75, (98 * box.clientWidth) / box.scrollWidth)}%` : "");
  asked.forEach(([, { style }], k) => { style.fontSize = sizes[k]; });
  const more = boxes.map(hidden);
  boxes.forEach((box, k) => {
    box.classList.toggle("more", more[k] - box.scrollLeft > 2);
    if (more[k] > 2) box.tabIndex = 0;
  });
}
const sizes = new ResizeObserver((entries) => mark(entries.map(({ target }) => target)));
function markScrolled() {
  for (const box of all(WIDE)) sizes.observe(box);
}

// A word that leads to its definition shows it: under the mouse, by the tab key, and when it is
// tapped. The browser closes it at a click elsewhere, and when another one opens.
function showDefinitions() {
  // The browser would close it by the escape key too, but the theme keeps that key to itself.
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") document.querySelector(".definition:popover-open")?.hidePopover();
  });
  for (const link of all("a[href*='definitions.html#def-']")) {
    const told = document.getElementById(link.hash.slice(1));
    if (!told?.showPopover) continue;
    let [waiting, touched, wasOpen] = [0, false, false];
    const isOpen = () => told.matches(":popover-open");
    const show = () => {
      if (!isOpen()) told.showPopover();
      const word = link.getClientRects()[0];
      const below = word.bottom + told.offsetHeight + 8 < innerHeight || word.top < told.offsetHeight + 8;
      const left = Math.max(8, Math.min(word.left, document.body.clientWidth - told.offsetWidth - 8));
      told.style.left = `${scrollX + left}px`;
      told.style.top = `${scrollY + (below ? word.bottom + 4 : word.top - told.offsetHeight - 4)}px`;
    };
    const soon = (act) => ({ pointerType }) => {
      clearTimeout(waiting);
      if (pointerType === "mouse") waiting = setTimeout(act, 200);
    };
    link.setAttribute("aria-describedby", told.id);
    for (const part of [link, told]) {
      part.addEventListener("pointerenter", soon(part === link ? show : () => {}));
      part.addEventListener("pointerleave", soon(() => told.hidePopover()));
    }
    link.addEventListener("focus", () => link.matches(":focus-visible") && show());
    link.addEventListener("blur", () => told.hidePopover());
    link.addEventListener("pointerdown", ({ pointerType }) => {
      [touched, wasOpen] = [pointerType !== "mouse", isOpen()];
    });
    link.addEventListener("click", (event) => {
      if (!touched) return;
      event.preventDefault();
      wasOpen ? told.hidePopover() : show();
    });
  }
}

addEventListener("hashchange", goToTarget);
addEventListener("scroll", ({ target }) => target.matches?.(WIDE) && mark([target]), true);
addEventListener("DOMContentLoaded", () => {
  orderTables();
  showDefinitions();
  followContents();
  goToTarget();
});
addEventListener("load", settle);

// Paper is white, and nothing on it can be unfolded: cards and solutions are open there.
const FOLDED = "article details:is(.claim, .sd-dropdown):not([open])";
addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
  for (const part of all(FOLDED)) part.open = part.dataset.folded = true;
});
addEventListener("afterprint", () => {
  const { dataset } = document.documentElement;
  dataset.theme = localStorage.getItem("theme") ?? "light";
  for (const part of all("details[data-folded]")) {
    part.open = false;
    delete part.dataset.folded;
  }
});
