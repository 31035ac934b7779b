// What a query names: claims, by id, place, author or statement, and below them the parts of pages.
(() => {
  const query = new URLSearchParams(location.search).get("q")?.trim();
  const results = document.getElementById("search-results");
  if (!query) return;
  for (const field of document.querySelectorAll("input[name=q]")) field.value = query;
  // "F.8" and "sv.thm3.6" are words; formulas are not.
  const words = (text) =>
    text.replace(/\$[^$]*\$/g, " ").match(/[\p{L}\p{N}]+(\.[\p{L}\p{N}]+)*/gu) ?? [];
  const index = (documents, boost, boostDocument) => {
    const made = new MiniSearch({
      idField: "id",
      fields: Object.keys(boost),
      storeFields: Object.keys(documents[0]),
      tokenize: words,
      searchOptions: { boost, boostDocument, prefix: (word) => /^[^\d.]{3}/.test(word) },
    });
    made.addAll(documents);
    return (combineWith) => made.search(query, { combineWith });
  };

  // What stands at the very place comes before what repairs, sharpens or mentions it.
  const atPlace = (id, word, { at }) =>
    at.split(/[,;]/)[0].toLowerCase() === query.toLowerCase() ? 100 : 1;
  const claims = index(CLAIMS, { id: 4, at: 4, says: 1, by: 4 }, atPlace)("AND");
  const parts = index(PARTS, { title: 4, page: 2, by: 2, text: 1 });
  const found = [parts("AND"), parts("OR")].find((each) => each.length) ?? [];

  if (claims.length) {
    const title = claims.length === 1 ? "One claim" : `${claims.length} claims`;
    const section = listed(title, claims.slice(0, 5), ({ id, at, says, verdict, page }) => [
      linked(at, `chapters/${page}`),
      ` (${id}), ${verdict}`,
      made("p", set(says)),
    ]);
    section.id = "claims-found";
    const address = `chapters/scoreboard.html#${new URLSearchParams({ search: query })}`;
    if (claims.length > 5) section.append(linked("all of them on the scoreboard", address));
    results.before(section);
  }
  const parted = ({ page, title, text, terms, id }) => [
    linked(set(page === title ? page : `${page} › ${title}`), id),
    piece(text, terms),
  ];
  const title = found.length ? "On the pages" : "No page has these words";
  results.append(listed(title, found.slice(0, 12), parted));

  // The sentence that has the most of the words, which are marked; a long one is cut, and a short
  // one goes on.
  function piece(text, terms) {
    const has = (part) => words(part).filter((word) => terms.includes(word.toLowerCase()));
    const many = (sentence) => new Set(has(sentence).map((word) => word.toLowerCase())).size;
    const sentences = text.split(/(?<=[.?!])(?<! al\.) (?=[^\p{Ll}])/u);
    const best = Math.max(...sentences.map(many));
    // A formula and what touches it stay one piece.
    let k = sentences.findIndex((each) => many(each) === best);
    let sentence = sentences[k];
    while (sentence.length < 80 && ++k < sentences.length) sentence += ` ${sentences[k]}`;
    const pieces = sentence.match(/(?:[^\s$]|\$[^$]*\$)+/g) ?? [];
    const first = Math.max(0, pieces.findIndex((each) => has(each).length) - 15);
    const shown = pieces.slice(first, first + 40);
    const told = made("p", first ? "… " : "");
    for (const each of shown) told.append(has(each).length ? made("mark", set(each)) : set(each), " ");
    if (first + 40 < pieces.length) told.append("…");
    return told;
  }

  // MathJax, which comes after this, finds the formulas by its own signs.
  function set(text) {
    return text.replace(/\$([^$]+)\$/g, "\\($1\\)");
  }

  function listed(title, items, tell) {
    const [section, list] = [document.createElement("section"), document.createElement("ul")];
    for (const each of items) list.appendChild(document.createElement("li")).append(...tell(each));
    section.append(made("h2", title), list);
    return section;
  }

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
