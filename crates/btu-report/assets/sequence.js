"use strict";
// Time-sequence charts: one canvas per connection, with panels that share their time axis. Without
// this script the same picture stands there, unable to zoom.
const LIMITS = ["application", "congestion window or send buffer", "delayed acknowledgement",
  "receiver window", "repair of losses", "sending", "unknown"];
const MARKS = ["new", "out of order", "fast retransmission", "retransmission timeout",
  "retransmission after a timeout", "tail loss probe", "spurious retransmission", "retransmission",
  "keep-alive", "zero window probe"];
const MOST_LETTERS = 3000;
const LETTERS = ["", "O", "R", "R", "R", "R", "R", "R", "K", "P"];
const SIGNS = ["SYN", "FIN", "RST_OUT", "RST_IN", "CE", "CWR", "D", "3", "U"];
// Charts are unpacked when they come into sight: most of a report is closed.
const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    inflate(target.querySelector("script").textContent).then((raw) => show(target, unpack(raw)));
  }
}, { rootMargin: "400px" });
for (const figure of document.querySelectorAll("figure"))
  if (figure.querySelector("script[type='application/octet-stream']")) sight.observe(figure);

function show(figure, unpacked) {
  const [segAt, segStart, segLength, segKind, segFlight, ansAt, ansAck, ansWindow, sackAt, sackStart,
    sackLength, tripAt, tripTime, pauseFrom, pauseLength, pauseLimit, zeroFrom, zeroLength,
    windowAt, windowBytes, signAt, signPlace, signKind] = unpacked;
  if (!segAt.length) return;
  const segMark = segKind.map((kind) => kind % 16);
  const sum = (a, b) => a.map((value, place) => value + b[place]);
  const segEnd = sum(segStart, segLength);
  const marked = (wanted) =>
    series(...[segAt, segStart, segEnd].map((of) => of.filter((_, place) => wanted(segMark[place]))));
  const hasWindow = ansWindow.some((window) => window >= 0);
  const edge = ansAck.map((ack, place) => ack + Math.max(ansWindow[place], 0));
  const all = { segments: series(segAt, segStart, segEnd), acks: series(ansAt, ansAck, ansAck),
    edges: series(hasWindow ? ansAt : ansAt.slice(0, 0), edge, edge),
    flight: series(segAt, segFlight, segFlight), trips: series(tripAt, tripTime, tripTime),
    windows: series(windowAt, windowBytes, windowBytes),
    sacks: series(sackAt, sackStart, sum(sackStart, sackLength)),
    order: marked((mark) => mark === 1), again: marked((mark) => mark > 1 && mark < 8),
    probes: marked((mark) => mark > 7) };
  const last = Math.max(segAt[segAt.length - 1], ansAt.length ? ansAt[ansAt.length - 1] : 0);
  const home = [0, Math.max(last, 1)];
  let view = home.slice(), cursor = null, held = null, asked = false;

  const box = figure.querySelector(".scroll"), canvas = document.createElement("canvas");
  const readout = document.createElement("p");
  readout.className = "readout";
  canvas.className = "sequence";
  canvas.setAttribute("role", "img");
  figure.classList.add("live");
  box.append(canvas);
  box.after(readout);
  const pen = canvas.getContext("2d");
  const left = 92, right = 14, bottom = 30;
  const panels = [
    { height: 360, title: "bytes of the stream", bytes: true,
      shown: [all.segments, all.acks, all.edges, all.sacks] },
    { height: 96, title: "bytes in flight", bytes: true, shown: [all.flight] },
    { height: 96, title: "congestion window", bytes: true, shown: [all.windows] },
    { height: 96, title: "round trip, ms", bytes: false, shown: [all.trips] },
  ];
  // A panel with nothing to show is a line that says why, as in the picture.
  const reasons = [...figure.querySelectorAll("svg .missing")].map((one) => one.textContent);
  panels.reduce((top, panel) => {
    panel.top = top;
    panel.empty = !panel.shown[0][0].x.length;
    if (panel.empty) [panel.height, panel.title] = [20, reasons.shift() || panel.title];
    return top + panel.height + 30;
  }, 30);
  const lowest = panels[panels.length - 1];
  const height = lowest.top + lowest.height + bottom;
  let width = 960, colours = {};

  const x = (time) => left + (time - view[0]) / (view[1] - view[0]) * (width - left - right);
  const time = (place) => view[0] + (place - left) / (width - left - right) * (view[1] - view[0]);
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };

  function dress() {
    const style = getComputedStyle(figure), of = (name) => style.getPropertyValue(name).trim();
    colours = { ink: of("--ink"), muted: of("--muted"), line: of("--line"), new: of("--c0"),
      ack: of("--c2"), edge: of("--c4"), sack: of("--c3"), again: of("--c7"), order: of("--c6"),
      probe: of("--c1"),
      ground: of("--watch-ground"), text: of("--watch-ink"), surface: of("--surface") };
    ask();
  }

  function size() {
    width = Math.max(box.clientWidth, 480);
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    ask();
  }

  function draw() {
    asked = false;
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    legend();
    for (const panel of panels) {
      panel.levels = panel.shown.map((one) => level(one, view, width));
      scale(panel);
      if (!panel.empty) clip(panel, () => shade(panel));
      axis(panel);
    }
    clip(panels[0], () => sequence(panels[0]));
    clip(panels[1], () => curve(panels[1], 0, colours.new));
    clip(panels[2], () => curve(panels[2], 0, colours.ack));
    clip(panels[3], () => curve(panels[3], 0, colours.sack));
    if (cursor !== null) point();
    canvas.setAttribute("aria-label", "from " + clock(view[0]) + " to " + clock(view[1]));
    canvas.dataset.view = view.join(" ");
  }

  function clip(panel, content) {
    pen.save();
    pen.beginPath();
    pen.rect(left, panel.top, width - left - right, panel.height);
    pen.clip();
    content();
    pen.restore();
  }

  function scale(panel) {
    let low = Infinity, high = -Infinity;
    for (const { from, to, lo, hi } of panel.levels) {
      for (let place = from; place < to; place++) {
        if (lo[place] < low) low = lo[place];
        if (hi[place] > high) high = hi[place];
      }
    }
    if (!(low <= high)) [low, high] = [0, 1];
    if (panel !== panels[0]) low = 0;
    const room = (high - low) * 0.04 || 1;
    panel.low = panel === panels[0] ? low - room : 0;
    panel.high = high + room;
    panel.y = (value) => panel.top + panel.height * (1 - (value - panel.low) / (panel.high - panel.low));
  }

  function axis(panel) {
    pen.fillStyle = colours.muted;
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (const value of panel.empty ? [] : ticks(panel.low, panel.high, panel.height / 56)) {
      line(left, panel.y(value), width - right, panel.y(value));
      pen.fillText(panel.bytes ? amount(value) : String(+(value / 1e6).toFixed(3)), left - 8, panel.y(value) + 4);
    }
    pen.textAlign = "center";
    for (const value of ticks(view[0], view[1], width / 130)) {
      if (!panel.empty) line(x(value), panel.top, x(value), panel.top + panel.height);
      if (panel === lowest) pen.fillText(clock(value), x(value), panel.top + panel.height + 18);
    }
    pen.textAlign = "left";
    pen.fillText(panel.title, left + 6, panel.top + 14);
  }

  function shade(panel) {
    pen.fillStyle = colours.ground;
    for (let place = 0; place < pauseFrom.length; place++) {
      const from = x(pauseFrom[place]), to = x(pauseFrom[place] + pauseLength[place]);
      if (to < left || from > width) continue;
      pen.fillRect(from, panel.top, Math.max(to - from, 1), panel.height);
      if (panel !== panels[0] || to - from < 24) continue;
      pen.fillStyle = colours.text;
      pen.textAlign = "left";
      const text = (place + 1) + " " + LIMITS[pauseLimit[place]] + ", " + clock(pauseLength[place]);
      pen.fillText(text, Math.max(from, left) + 4, panel.top + 32 + 15 * (place % 4), to - from - 6);
      pen.fillStyle = colours.ground;
    }
    pen.strokeStyle = colours.again;
    pen.lineWidth = 4;
    for (let place = 0; place < zeroFrom.length; place++) {
      const from = x(zeroFrom[place]), to = x(zeroFrom[place] + zeroLength[place]);
      if (to >= left && from <= width) line(from, panel.top + 2, Math.max(to, from + 2), panel.top + 2);
    }
  }

  function sequence(panel) {
    const [segments] = panel.levels;
    curve(panel, 2, colours.edge);
    bars(panel, segments, colours.new, 1.5);
    curve(panel, 1, colours.ack);
    bars(panel, panel.levels[3], colours.sack, 2);
    marks(panel, all.order, colours.order);
    marks(panel, all.again, colours.again);
    marks(panel, all.probes, colours.probe);
    diamonds(panel);
    letters(panel);
  }

  // What is in view, of columns that ascend in time.
  const inside = (at) => [lower(at, view[0]), lower(at, view[1])];

  // Pushed segments, where there are so few that they do not hide each other.
  function diamonds(panel) {
    const [from, to] = inside(segAt);
    if (to - from > width / 3) return;
    pen.strokeStyle = colours.new;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let place = from; place < to; place++) {
      if (segKind[place] < 16) continue;
      const at = x(segAt[place]), top = panel.y(segEnd[place]);
      pen.moveTo(at, top - 3);
      for (const [right, down] of [[3, 0], [0, 3], [-3, 0], [0, -3]]) pen.lineTo(at + right, top + down);
    }
    pen.stroke();
  }

  // Letters of signs, then of marks, wherever there is room beside the last one.
  function letters(panel) {
    pen.textAlign = "center";
    write(panel, signAt, signPlace, (place) => SIGNS[signKind[place]], (place) => signColour(signKind[place]));
    const colour = (place) => segMark[place] === 1 ? colours.order : segMark[place] > 7 ? colours.probe : colours.again;
    write(panel, segAt, segEnd, (place) => LETTERS[segMark[place]], colour);
  }

  function signColour(kind) {
    if (kind < 4) return colours.probe;
    if (kind < 6) return colours.edge;
    return kind === 7 ? colours.ack : colours.again;
  }

  function write(panel, ats, places, text, colour) {
    let [from, to] = inside(ats), free = -Infinity;
    if (to - from > MOST_LETTERS) return;
    for (let place = from; place < to; place++) {
      const word = text(place), at = x(ats[place]);
      if (!word || at < free) continue;
      pen.fillStyle = colour(place);
      pen.fillText(word, Math.max(at, left + 4 * word.length), Math.max(panel.y(places[place]) - 7, panel.top + 10));
      free = at + 10 + 8 * word.length;
    }
  }

  // One rectangle for each column of pixels with an entry: thousands of strokes would not keep up.
  function bars(panel, one, colour, thick) {
    pen.fillStyle = colour;
    columns(one, (at, low, high) => upright(panel, at, low, high, thick));
  }

  function upright(panel, at, low, high, thick) {
    const top = panel.y(high);
    pen.fillRect(at - thick / 2, top, thick, Math.max(panel.y(low) - top, 1));
  }

  // The lowest, the highest and the last value of each column of pixels.
  function columns({ x: xs, lo, hi, from, to }, paint) {
    let at = NaN, low = 0, high = 0, last = 0;
    for (let place = from; place < to; place++) {
      const column = Math.round(x(xs[place]));
      if (column === at) {
        if (lo[place] < low) low = lo[place];
        if (hi[place] > high) high = hi[place];
        last = hi[place];
        continue;
      }
      if (at === at) paint(at, low, high, last);
      [at, low, high, last] = [column, lo[place], hi[place], hi[place]];
    }
    if (at === at) paint(at, low, high, last);
  }

  // What was sent again: a bar with a cross at its end, one for each column of pixels.
  function marks(panel, levels, colour) {
    const one = level(levels, view, width);
    bars(panel, one, colour, 2);
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    columns(one, (at, low, high) => {
      const top = panel.y(high);
      pen.moveTo(at - 3, top - 3);
      pen.lineTo(at + 3, top + 3);
      pen.moveTo(at - 3, top + 3);
      pen.lineTo(at + 3, top - 3);
    });
    pen.stroke();
  }

  function curve(panel, number, colour) {
    const { x: xs, lo, hi, from, to, raw } = panel.levels[number];
    if (to - from > width / 2) return joined(panel, panel.levels[number], colour);
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (let place = from; place < to; place++) {
      const at = x(xs[place]);
      if (raw && number > 0 && place > from) pen.lineTo(at, panel.y(hi[place - 1]));
      if (place === from) pen.moveTo(at, panel.y(lo[place]));
      pen.lineTo(at, panel.y(lo[place]));
      if (!raw) pen.lineTo(at, panel.y(hi[place]));
    }
    pen.stroke();
  }

  // A curve of at least an entry per two pixels: each column reaches to the one before.
  function joined(panel, one, colour) {
    pen.fillStyle = colour;
    let before = null;
    columns(one, (at, low, high, last) => {
      const [was, value] = before || [at, low];
      if (at - was > 1) upright(panel, (was + at) / 2, value, value, at - was);
      upright(panel, at, Math.min(low, value), Math.max(high, value), 1.5);
      before = [at, last];
    });
  }

  function line(fromX, fromY, toX, toY) {
    pen.beginPath();
    pen.moveTo(fromX, fromY);
    pen.lineTo(toX, toY);
    pen.stroke();
  }

  function legend() {
    const there = (levels) => levels[0].x.length > 0;
    const items = [["segments", colours.new], ["acknowledged", colours.ack], ["window", colours.edge],
      ["SACK", colours.sack], ["R sent again", colours.again, all.again],
      ["O out of order", colours.order, all.order], ["K, P probes", colours.probe, all.probes],
    ].filter(([, , levels]) => !levels || there(levels));
    let at = left;
    pen.textAlign = "left";
    for (const [text, colour] of items) {
      pen.fillStyle = colour;
      pen.fillRect(at, 10, 14, 4);
      pen.fillStyle = colours.muted;
      pen.fillText(text, at + 19, 16);
      at += 34 + pen.measureText(text).width;
    }
  }

  // The same moment in every panel.
  function point() {
    const at = x(cursor);
    if (at < left || at > width - right) return;
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 1;
    for (const panel of panels) line(at, panel.top, at, panel.top + panel.height);
    const segment = Math.min(lower(segAt, cursor), segAt.length - 1);
    const answer = Math.max(Math.min(lower(ansAt, cursor), ansAt.length) - 1, 0);
    const trip = Math.max(Math.min(lower(tripAt, cursor), tripAt.length) - 1, 0);
    const known = Math.max(lower(windowAt, cursor) - 1, 0);
    const parts = [clock(cursor), "sent " + amount(segEnd[segment]) + " (" + MARKS[segMark[segment]] + ")",
      ansAt.length ? "acknowledged " + amount(ansAck[answer]) : "",
      ansAt.length && ansWindow[answer] >= 0 ? "window " + amount(ansWindow[answer]) : "",
      "in flight " + amount(segFlight[segment]),
      windowAt.length ? "congestion window " + amount(windowBytes[known]) : "",
      tripAt.length ? "round trip " + clock(tripTime[trip]) : ""];
    readout.textContent = parts.filter((part) => part).join(" · ");
  }

  function zoom(factor, around) {
    const span = Math.min(Math.max((view[1] - view[0]) * factor, 1000), home[1]);
    const share = (around - view[0]) / (view[1] - view[0]);
    move(around - share * span, span);
  }

  function move(from, span) {
    const begin = Math.min(Math.max(from, 0), home[1] - span);
    view = [begin, begin + span];
    ask();
  }

  const at = (event) => time(event.clientX - canvas.getBoundingClientRect().left);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { held = at(event); canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (held !== null) move(view[0] + held - at(event), view[1] - view[0]);
    cursor = at(event);
    ask();
  });
  canvas.addEventListener("dblclick", () => { view = home.slice(); ask(); });
  box.addEventListener("keydown", (event) => {
    const span = view[1] - view[0], middle = view[0] + span / 2;
    if (event.key === "ArrowLeft") move(view[0] - span / 10, span);
    else if (event.key === "ArrowRight") move(view[0] + span / 10, span);
    else if (event.key === "+") zoom(0.8, middle);
    else if (event.key === "-") zoom(1.25, middle);
    else if (event.key === "0") { view = home.slice(); ask(); }
    else return;
    event.preventDefault();
  });
  new ResizeObserver(size).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  size();
  dress();
  const caption = figure.querySelector("figcaption");
  caption.textContent += " Ctrl and the wheel, or + and -, zoom; dragging or the arrow keys move; a double click or 0 shows all.";
}

// Base64 of deflated bytes.
async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (one) => one.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

// Columns of differences, seven bits per byte, signs in the lowest bit.
function unpack(raw) {
  const columns = [];
  let place = 0;
  const number = () => {
    let value = 0, factor = 1, byte;
    do {
      byte = raw[place++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  };
  while (place < raw.length) {
    const column = new Float64Array(number());
    let value = 0;
    for (let at = 0; at < column.length; at++) {
      const step = number();
      value += step % 2 ? -(step + 1) / 2 : step / 2;
      column[at] = value;
    }
    columns.push(column);
  }
  return columns;
}

// Levels of detail: each has the lowest and highest of eight entries of the one before.
function series(x, lo, hi) {
  const levels = [{ x, lo, hi, raw: true }];
  while (levels[levels.length - 1].x.length > 2048) {
    const fine = levels[levels.length - 1], count = Math.ceil(fine.x.length / 8);
    const next = { x: new Float64Array(count), lo: new Float64Array(count), hi: new Float64Array(count), raw: false };
    for (let place = 0; place < count; place++) {
      const end = Math.min(place * 8 + 8, fine.x.length);
      let low = Infinity, high = -Infinity;
      for (let at = place * 8; at < end; at++) {
        if (fine.lo[at] < low) low = fine.lo[at];
        if (fine.hi[at] > high) high = fine.hi[at];
      }
      next.x[place] = fine.x[place * 8];
      next.lo[place] = low;
      next.hi[place] = high;
    }
    levels.push(next);
  }
  return levels;
}

// The finest level that has a few entries per pixel, and what of it is in view.
function level(levels, view, width) {
  for (const one of levels) {
    const from = Math.max(lower(one.x, view[0]) - 1, 0);
    const to = Math.min(lower(one.x, view[1]) + 1, one.x.length);
    if (to - from <= width * 4 || one === levels[levels.length - 1]) return { ...one, from, to };
  }
}

function lower(sorted, value) {
  let from = 0, to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < value) from = middle + 1; else to = middle;
  }
  return from;
}

function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 3), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || power * 10;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}

function amount(bytes) {
  const size = Math.abs(bytes);
  if (size >= 1e9) return +(bytes / 1e9).toFixed(4) + " GB";
  if (size >= 1e6) return +(bytes / 1e6).toFixed(4) + " MB";
  if (size >= 1e4) return +(bytes / 1e3).toFixed(3) + " kB";
  return Math.round(bytes) + " B";
}

function clock(nanos) {
  const size = Math.abs(nanos);
  if (size >= 1e9) return +(nanos / 1e9).toFixed(4) + " s";
  if (size >= 1e6) return +(nanos / 1e6).toFixed(4) + " ms";
  return +(nanos / 1e3).toFixed(2) + " us";
}
