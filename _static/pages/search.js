// The claims that a query names, by id, place or statement, above the pages that Sphinx finds.
(() => {
  // From a folder no script may read the pages, so that there is nothing to show a piece of.
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY &&= location.protocol !== "file:";

  // Sphinx looks words up in plain objects, where every object has a "constructor".
  const bare = { __proto__: null, hasOwnProperty: Object.prototype.hasOwnProperty };
  for (const words of [Search._index.terms, Search._index.titleterms]) {
    Object.setPrototypeOf(words, bare);
  }

  const query = new URLSearchParams(location.search).get("q")?.trim();
  if (!query) return;
  const most = 10;
  const index = new MiniSearch({
    fields: ["id", "at", "says"],
    storeFields: ["at", "says", "verdict", "page"],
    // "F.8" and "sv.thm3.6" are words.
    tokenize: (text) => text.match(/[\p{L}\p{N}]([\p{L}\p{N}.-]*[\p{L}\p{N}])?/gu) ?? [],
    searchOptions: {
      boost: { id: 4, at: 4 },
      // What stands at the very place before what repairs, sharpens or mentions it.
      boostDocument: (id, word, { at }) =>
        at.split(/[,;]/)[0].toLowerCase() === query.toLowerCase() ? 100 : 1,
      combineWith: "AND",
      prefix: true,
    },
  });
  index.addAll(CLAIMS);
  const found = index.search(query);
  if (found.length === 0) return;

  const section = document.createElement("section");
  section.id = "claims-found";
  section.append(made("h2", found.length === 1 ? "One claim" : `${found.length} claims`));
  const list = document.createElement("ul");
  for (const { id, at, says, verdict, page } of found.slice(0, most)) {
    const item = document.createElement("li");
    // MathJax, which comes after this, finds the formulas by its own signs.
    const words = made("p", says.replace(/\$([^$]+)\$/g, "\\($1\\)"));
    item.append(linked(at, `chapters/${page}`), ` (${id}), ${verdict}`, words);
    list.append(item);
  }
  section.append(list);
  if (found.length > most) {
    const address = `chapters/scoreboard.html#${new URLSearchParams({ search: query })}`;
    section.append(linked("all of them on the scoreboard", address));
  }
  document.getElementById("search-results").before(section);

  function made(tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  }

  function linked(text, address) {
    const link = made("a", text);
    link.href = address;
    return link;
  }
})();
