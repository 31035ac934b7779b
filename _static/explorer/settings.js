// A setting of the explorer, read from what a reader types, pastes or follows: data and a start.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const MOST_DATA = 200;
  const KEEP = "the data stay as they were.";
  const { number, NUMBER } = reluflow;
  Object.assign(reluflow, { MOST_DATA, KEEP });

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

  /** The end of the address that shows a setting, as reluflow.ledger.cards writes it. */
  reluflow.fragment = ({ X, y, w }) => `#${reluflow.encode({ X, y, w })}`;

  /** The setting {X, y, w} of such an end, {wrong}, or null where it shows none. */
  reluflow.settingOf = (hash) => {
    const parts = Object.fromEntries(
      hash
        .slice(1)
        .split("&")
        .map((part) => part.split("=")),
    );
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
  };
})();
