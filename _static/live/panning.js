// How a reader moves over the plane: by mouse, wheel, two fingers, keys and buttons. One finger
// scrolls the page, and so does the wheel where the plane has no focus and Ctrl is not held.
"use strict";

(() => {
  const reluflow = (window.reluflow ??= {});
  const STEP = 1.5; // of a key or a button
  const SLACK = 4; // pixels by which a hand may shake in a click
  const KEYS = {
    ArrowLeft: [-0.2, 0],
    ArrowRight: [0.2, 0],
    ArrowUp: [0, 0.2],
    ArrowDown: [0, -0.2],
  };

  /**
   * Let the plane `svg` be moved. `view()` is its view, `show(view)` shows another one, `reset()`
   * the first, and `tap(event)` is a click of the mouse that moves nothing. What has the class
   * `handle` is dragged by itself. Returns zoom(by, at): `by` times as wide around a point of the
   * plane.
   */
  reluflow.panning = (svg, { view, show, reset, tap }) => {
    const pixel = ({ clientX, clientY }) => {
      const box = svg.getBoundingClientRect();
      return [clientX - box.left, clientY - box.top];
    };
    const pointed = (p) => reluflow.frame(view(), svg.clientWidth).from(p);
    const held = ({ target }) => target.closest(".handle") !== null;
    const zoom = (by, at) => show(reluflow.zoomed(view(), by, at));

    /** Show the view in which the point w of the plane is at the pixel p. */
    function put(w, p) {
      const now = pointed(p);
      const { x, y, r } = view();
      show({ x: x + w[0] - now[0], y: y + w[1] - now[1], r });
    }

    let press = null; // where the mouse went down, in pixels and on the plane
    svg.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType !== "mouse" || held(event)) return;
      const p = pixel(event);
      press = { p, w: pointed(p), moved: false };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!press || event.pointerType !== "mouse") return;
      const p = pixel(event);
      press.moved ||= Math.hypot(p[0] - press.p[0], p[1] - press.p[1]) > SLACK;
      if (!press.moved) return;
      svg.classList.add("moving");
      put(press.w, p);
    });
    svg.addEventListener("pointerup", (event) => {
      if (press && !press.moved && event.pointerType === "mouse") tap(event);
    });
    svg.addEventListener("lostpointercapture", () => {
      press = null;
      svg.classList.remove("moving");
    });

    svg.addEventListener(
      "wheel",
      (event) => {
        const ctrl = event.ctrlKey || event.metaKey;
        if (!ctrl && document.activeElement !== svg) return;
        event.preventDefault();
        const lines = event.deltaMode ? 30 : 1;
        const turns = (event.deltaY * lines) / (ctrl ? 150 : 300);
        zoom(2 ** Math.max(-1, Math.min(1, turns)), pointed(pixel(event)));
      },
      { passive: false },
    );

    // Two fingers: what was under them stays under them.
    let pinch = null;
    const between = ([a, b]) => {
      const [p, q] = [pixel(a), pixel(b)];
      const wide = Math.hypot(p[0] - q[0], p[1] - q[1]) || 1;
      return { middle: [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2], wide };
    };
    const move = (event) => {
      if (!pinch || event.touches.length !== 2) return;
      event.preventDefault();
      const { middle, wide } = between(event.touches);
      zoom((pinch.r * pinch.wide) / wide / view().r);
      put(pinch.w, middle);
    };
    const stop = () => (pinch = null);
    svg.addEventListener(
      "touchstart",
      (event) => {
        pinch = null;
        const under = [...event.touches].map((each) => each.target);
        if (under.length !== 2) return;
        if (!under.every((target) => svg.contains(target)) || [...event.touches].some(held)) return;
        event.preventDefault();
        const { middle, wide } = between(event.touches);
        pinch = { w: pointed(middle), wide, r: view().r };
        // Each finger is told to what lay under it at first, which is drawn anew meanwhile.
        for (const target of under) {
          target.addEventListener("touchmove", move, { passive: false });
          for (const end of ["touchend", "touchcancel"]) target.addEventListener(end, stop);
        }
      },
      { passive: false },
    );

    svg.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const way = event.target === svg && KEYS[event.key];
      if (way) show(reluflow.panned(view(), way));
      else if ("+=".includes(event.key)) zoom(1 / STEP);
      else if ("-−_".includes(event.key)) zoom(STEP);
      else if (event.key === "0") reset();
      else return;
      event.preventDefault();
    });
    return zoom;
  };
})();
