// Where words stand on the plane: each label takes the first of its places where it lies on no disc
// and on no other words, and is left out where there is none.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const SIZES = { tick: 11, cell: 11, rank: 12 };
  const WIDE = 0.6; // of a letter, at most, in its size

  const sizeOf = (kind) => SIZES[kind] ?? 13;
  /** Half the width and half the height of words, in pixels. */
  reluflow.extent = (kind, told) => [
    (WIDE * sizeOf(kind) * told.length) / 2,
    0.5 * sizeOf(kind) + 1,
  ];

  /** The box of a text {kind, at, told, left}: [left, top, right, bottom]. */
  function boxOf({ kind, at, told, left }) {
    const [x, y] = reluflow.extent(kind, told);
    const middle = left ? at[0] + x : at[0];
    return [middle - x, at[1] - y, middle + x, at[1] + y];
  }

  const apart = (a, b) => a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];

  /** Whether a box is off a disc {at, r, hollow}; what is inside of a hollow one is. */
  function off([left, top, right, bottom], { at, r, hollow }) {
    const [x, y] = at;
    const near = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
    const far = Math.hypot(Math.max(x - left, right - x), Math.max(y - top, bottom - y));
    return near > r + 1 || (hollow && far < r - 1);
  }

  /** Places next to a disc, those close to it first. */
  reluflow.beside = ({ at, r }) => {
    const places = [];
    for (const gap of [10, 18, 28]) {
      for (const turn of [1, 3, 7, 5, 0, 4, 2, 6]) {
        const angle = (turn * Math.PI) / 4;
        places.push([
          at[0] + (r + gap) * Math.cos(angle),
          at[1] - (r + gap) * Math.sin(angle),
        ]);
      }
    }
    return places;
  };

  /**
   * The texts that are drawn, and the places that were taken: [{texts, place, label}].
   *
   * A label is {places, texts, room}: texts(place) are its texts, and room is how many pixels around
   * its place it needs itself. A disc whose middle is the place may carry it.
   */
  reluflow.placed = ({ size }, labels, discs) => {
    const taken = [];
    const free = (box, place) =>
      box[0] >= 0 &&
      box[1] >= 0 &&
      box[2] <= size &&
      box[3] <= size &&
      taken.every((other) => apart(box, other)) &&
      discs.every((disc) => disc.at === place || off(box, disc));
    const clear = ([x, y], room) => !room || free([x - room, y - room, x + room, y + room]);
    return labels.flatMap((label) => {
      const place = label.places.find(
        (p) => clear(p, label.room) && label.texts(p).every((text) => free(boxOf(text), p)),
      );
      if (!place) return [];
      const texts = label.texts(place);
      taken.push(...texts.map(boxOf));
      return [{ texts, place, label }];
    });
  };
})();
