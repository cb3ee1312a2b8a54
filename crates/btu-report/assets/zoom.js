"use strict";
// Charts of curves can be zoomed and moved. Without this script they are the same pictures.
for (const svg of document.querySelectorAll("figure svg")) {
  if (!svg.querySelector("path.curve")) continue;
  const home = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = home.slice(), held = null;
  const show = () => svg.setAttribute("viewBox", view.map((n) => n.toFixed(2)).join(" "));
  const reset = () => { view = home.slice(); show(); };
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const zoom = (factor, [x, y]) => {
    const width = Math.min(home[2], view[2] * factor), height = width * home[3] / home[2];
    move((view[2] - width) * x, (view[3] - height) * y, width, height);
  };
  const move = (dx, dy, width = view[2], height = view[3]) => {
    const inside = (place, least, most) => Math.min(Math.max(place, least), most);
    view = [inside(view[0] + dx, home[0], home[0] + home[2] - width),
      inside(view[1] + dy, home[1], home[1] + home[3] - height), width, height];
    show();
  };
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { held = at(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const now = at(event);
    move((held[0] - now[0]) * view[2], (held[1] - now[1]) * view[3]);
    held = now;
  });
  svg.addEventListener("dblclick", reset);
  svg.parentElement.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (step && view[2] < home[2]) move(step[0] * view[2] / 10, step[1] * view[3] / 10);
    else if (event.key === "+") zoom(0.8, [0.5, 0.5]);
    else if (event.key === "-") zoom(1.25, [0.5, 0.5]);
    else if (event.key === "0") reset();
    else return;
    event.preventDefault();
  });
  const caption = svg.closest("figure").querySelector("figcaption");
  caption.textContent += " Ctrl and the wheel, or + and -, zoom; dragging or the arrow keys move; a double click or 0 shows all.";
}
