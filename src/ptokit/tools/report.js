"use strict";
// Times are cycles: `from` is where the part of the charts that is seen begins, `span` how long it is.
const DENSE = 400; // rectangles in sight that have no room for a border
const SVG = "http://www.w3.org/2000/svg";
const body = document.body, tip = document.getElementById("tip"), axis = document.getElementById("axis");
const whole = Number(body.dataset.cycles), perCycle = Number(body.dataset.perCycle);
const charts = [...document.querySelectorAll("svg.time")];
const places = new Map(); // number of a line -> every element that comes from it
let from = 0, span = whole, chosen = null, waiting = false;

for (const element of document.querySelectorAll("[data-p]"))
  for (const number of element.dataset.p.split(" ")) {
    if (!places.has(number)) places.set(number, []);
    places.get(number).push(element);
  }

// the rectangles of each chart that have names, and where the names go
const named = charts.map((chart) => ({
  words: chart.nextElementSibling,
  bars: [...chart.querySelectorAll("[data-name]")].map((element) => ({
    x: element.x.baseVal.value, width: element.width.baseVal.value, name: element.dataset.name, element,
    middle: element.y.baseVal.value + element.height.baseVal.value / 2, high: element.height.baseVal.value,
  })).filter((bar) => bar.high > 12),
}));

function word(svg, x, y, text) {
  const made = svg.appendChild(document.createElementNS(SVG, "text"));
  made.setAttribute("x", x);
  made.setAttribute("y", y);
  made.textContent = text;
  return made;
}

function step(length) { // 1, 2 or 5 times a power of ten
  const power = 10 ** Math.floor(Math.log10(length));
  return power * ([1, 2, 5].find((n) => n * power >= length) ?? 10);
}

function drawAxis() {
  const width = axis.clientWidth, every = Math.max(1, step((span * 95) / Math.max(width, 1)));
  axis.replaceChildren();
  for (let cycle = Math.ceil(from / every) * every; cycle <= from + span; cycle += every) {
    const x = ((cycle - from) / span) * width, line = document.createElementNS(SVG, "line");
    if (x > width - 46) break;
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", 14], ["y2", 22]]) line.setAttribute(name, value);
    axis.append(line);
    word(axis, x + 3, 12, cycle.toLocaleString("en"));
  }
  const seen = (span * perCycle).toLocaleString("en", { maximumSignificantDigits: 3 });
  document.getElementById("seen").textContent = `${seen} µs seen`;
}

function drawWords() { // on the bars that have room for them
  for (const { words, bars } of named) {
    const width = words.clientWidth;
    words.replaceChildren();
    for (const { x, width: long, name, middle, element } of bars) {
      const left = Math.max(0, ((x - from) / span) * width);
      const right = Math.min(width, ((x + long - from) / span) * width);
      if (right - left < 7 * name.length + 6) continue;
      const made = word(words, left + 4, middle + 4, name);
      made.classList.toggle("chosen", element.classList.contains("chosen"));
    }
  }
}

function draw() {
  waiting = false;
  for (const chart of charts) {
    const high = chart.viewBox.baseVal.height;
    chart.setAttribute("viewBox", `${from} 0 ${span} ${high}`);
    chart.classList.toggle("dense", (chart.childElementCount * span) / whole > DENSE);
  }
  drawAxis();
  drawWords();
}

function show(start, length) {
  span = Math.min(whole, Math.max(length, Math.min(10, whole)));
  from = Math.min(Math.max(0, start), whole - span);
  if (!waiting) requestAnimationFrame(draw);
  waiting = true;
}

function zoom(factor, share = 0.5) {
  const length = Math.min(whole, span * factor);
  show(from + (span - length) * share, length);
}

function select(number, by) {
  for (const element of document.querySelectorAll(".chosen")) element.classList.remove("chosen");
  chosen = number === chosen ? null : number;
  body.classList.toggle("selecting", chosen !== null);
  for (const element of places.get(chosen) ?? []) {
    element.classList.add("chosen");
    const list = element.closest(".lines") && element.closest("#source");
    if (list && list !== by) reveal(list, element);
  }
  drawWords();
}

function reveal(list, element) { // the list alone, not the page
  const outer = list.getBoundingClientRect(), inner = element.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom)
    list.scrollTop += inner.top - outer.top - outer.height / 2;
}

function hover(event) {
  const text = event.target.dataset?.tip;
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const room = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - room.width - 8))}px`;
  const below = event.clientY + 16;
  tip.style.top = `${below + room.height < innerHeight ? below : event.clientY - room.height - 10}px`;
}

for (const view of document.querySelectorAll(".view")) {
  let drag = null;
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    const edge = view.getBoundingClientRect();
    zoom(Math.exp(event.deltaY / 400), (event.clientX - edge.left) / edge.width);
  }, { passive: false });
  view.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, from, moved: false, top: view.parentElement.scrollTop };
  });
  addEventListener("pointermove", (event) => {
    if (!drag) return;
    const right = event.clientX - drag.x, down = event.clientY - drag.y;
    drag.moved ||= Math.hypot(right, down) > 4;
    if (!drag.moved) return;
    show(drag.from - (right / view.clientWidth) * span, span);
    view.parentElement.scrollTop = drag.top - down;
  });
  addEventListener("pointerup", () => { view.dataset.moved = drag?.moved ? "1" : ""; drag = null; });
  view.addEventListener("dblclick", () => show(0, whole));
}

document.addEventListener("mousemove", hover);
document.addEventListener("click", (event) => {
  if (event.target.closest(".view")?.dataset.moved) return;
  const element = event.target.closest("[data-p]");
  if (element && !getSelection().toString()) select(element.dataset.p.split(" ")[0], element.closest("#source"));
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && chosen !== null) select(chosen); });
document.getElementById("in").addEventListener("click", () => zoom(0.5));
document.getElementById("out").addEventListener("click", () => zoom(2));
document.getElementById("whole").addEventListener("click", () => show(0, whole));
document.getElementById("core")?.addEventListener("change", (event) => {
  for (const core of document.querySelectorAll(".core")) core.hidden = core.dataset.core !== event.target.value;
  draw();
});

for (const [column, head] of document.querySelectorAll("th").entries()) {
  let down = true;
  head.addEventListener("click", () => {
    const rows = [...document.querySelectorAll("tbody tr")], sign = down ? -1 : 1;
    const value = (row) => row.cells[column].textContent.replace(/[,%]/g, "");
    rows.sort((a, b) => sign * value(a).localeCompare(value(b), "en", { numeric: true }));
    document.querySelector("tbody").append(...rows);
    down = !down;
  });
}

addEventListener("resize", () => show(from, span));
draw();
