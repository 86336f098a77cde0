/* The frame of the page: profiles and their items, tabs, keys, theme, tooltip, figures, tables. Views register themselves with `view`. */
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const views = [];
const view = v => views.push(v);

/* ---- elements ---- */

/* make("td", {class: "name"}, "text", child…): attributes that start with "on" are listeners. */
function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const isDark = () => document.documentElement.dataset.theme === "dark";

/* ---- figures ---- */

const UNITS = {
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};
const TITLES = Object.fromEntries(Object.entries(data.metrics || {}).map(([k, m]) => [k, m.title]));
const unitOf = metric => data.metrics?.[metric]?.unit || "count";
const grouped = d3.format(",");
function figure(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (!UNITS[unit]) return Math.abs(value) >= 1e15 ? value.toPrecision(3) : grouped(Math.round(value * 1000) / 1000);
  const size = Math.abs(value), [scale, name] = UNITS[unit].find(([s]) => size >= s) || UNITS[unit].at(-1), v = value / scale;
  return (size === 0 ? "0" : Math.abs(v) >= 1000 ? Math.round(v) : v.toPrecision(3)) + " " + name;
}
const rate = (value, unit) => !Number.isFinite(value) ? "" : value >= 1e12 ? (value / 1e12).toPrecision(3) + " T" + unit : (value / 1e9).toPrecision(3) + " G" + unit;
const percent = share => !Number.isFinite(share) ? "" : (share * 100).toFixed(Math.abs(share) >= 0.1 || share === 0 ? 0 : 1) + " %";
const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;

/* ---- profiles ---- */

/* Values of a metric: one for each sample. */
const median = values => values && values.length ? d3.median(values) : 0;
const at = (item, metric) => median(item[metric]);

/* Adds to a profile what all views need: for each item its children, its path and its own number. */
function index(entry) {
  const p = entry.profile;
  p.children = [];
  p.roots = [];
  p.items.forEach((item, i) => {
    const parent = item.parent === undefined ? null : p.items[item.parent];
    item.id = i;
    item.path = parent ? parent.path + "/" + item.name : item.name;
    item.depth = parent ? parent.depth + 1 : 0;
    (parent ? parent.children ||= [] : p.roots).push(item);
  });
  p.title = entry.name;
  p.symptoms = entry.symptoms;
  p.suggestions = entry.suggestions;
  p.isBuild = p.kind === "build";
  p.busy = d3.sum(p.roots.filter(i => !p.isBuild || i.kind === "phase"), i => at(i, "wall_ns"));
}
data.profiles = data.profiles || [];
data.profiles.forEach(index);
let chosen = 0;
const profile = () => data.profiles[chosen] && data.profiles[chosen].profile;
const hasMetric = (p, metric) => p.items.some(i => i[metric]);

/* ---- the tooltip ---- */

const tip = make("div", {id: "tip", hidden: true, role: "status"});
/* rows: [["wall", "12 ms"], …]; e: the mouse event, or a place with clientX and clientY. */
function showTip(e, title, rows, note) {
  tip.replaceChildren(make("b", {}, title), ...rows.filter(r => r[1]).map(([k, v]) => make("div", {}, make("span", {}, k), v)));
  if (note) tip.append(note);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - box.width - 6)) + "px";
  tip.style.top = (e.clientY + 18 + box.height > innerHeight ? Math.max(4, e.clientY - box.height - 12) : e.clientY + 18) + "px";
}
const hideTip = () => { tip.hidden = true; };

/* What is known of an item, for tooltips. */
function itemRows(p, item) {
  const rows = ["wall_ns", "cpu_ns", "calls", "peak_bytes", "allocations", "read_bytes", "written_bytes", "bytes", "operations", "work_items", "work_group", "most_work_group",
    "local_bytes", "private_bytes"].filter(m => item[m])
    .map(m => [TITLES[m], figure(at(item, m), unitOf(m))]);
  const seconds = at(item, "wall_ns") / 1e9, per = at(item, "calls") || 1;
  if (p.busy) rows.unshift(["share", percent(at(item, "wall_ns") / p.busy)]);
  if (item.bytes && seconds) rows.push(["rate", rate(at(item, "bytes") / seconds, "B/s")]);
  if (item.operations && at(item, "operations") && seconds) rows.push(["", rate(at(item, "operations") / seconds, "OP/s")]);
  if (per > 1) rows.push(["per call", figure(at(item, "wall_ns") / per, "ns")]);
  if (item.at) rows.push(["at", item.at]);
  return rows;
}

/* ---- tables ---- */

/* columns: [{title, value: row => number or text, text: row => text or element, kind: "number" | "name" | "wide"}]. Sorted by a click on a title; shows
   `limit` rows, and more on request. */
function table(columns, rows, {limit = 50, sort = null, onrow = null, caption = ""} = {}) {
  const body = make("tbody"), more = make("button", {hidden: true, onclick: () => { limit *= 4; fill(); }}), heads = [];
  let by = sort, down = true, shown = rows;
  const head = make("tr", {}, ...columns.map((c, i) => {
    const th = make("th", {class: c.kind === "number" ? "number" : null, scope: "col"}, make("button", {onclick: () => {
      down = by === i ? !down : c.kind === "number";
      by = i;
      fill();
    }}, c.title));
    heads.push(th);
    return th;
  }));
  function fill() {
    let list = shown;
    if (by !== null) list = [...list].sort((a, b) => (down ? d3.descending : d3.ascending)(columns[by].value(a), columns[by].value(b)));
    heads.forEach((th, i) => th.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...list.slice(0, limit).map(row => make("tr", onrow ? {onclick: () => onrow(row), style: "cursor: pointer"} : {},
      ...columns.map(c => make("td", {class: c.kind || null}, (c.text || c.value)(row) ?? "")))));
    more.hidden = list.length <= limit;
    more.textContent = `show more of ${grouped(list.length)} rows`;
  }
  fill();
  const element = make("div", {class: "scroll"}, make("table", caption ? {"aria-label": caption} : {}, make("thead", {}, head), body), more);
  element.show = list => { shown = list; fill(); };
  return element;
}
const barOf = share => make("span", {class: "bar", style: `width: ${Math.max(1, Math.min(1, share) * 90)}px`});

/* A search field that calls back a little after the last key. */
function search(label, callback) {
  let timer;
  return make("input", {type: "search", placeholder: label, "aria-label": label, oninput: e => {
    clearTimeout(timer);
    timer = setTimeout(() => callback(e.target.value.trim().toLowerCase()), 120);
  }});
}
function chooser(label, options, value, callback) {
  const select = make("select", {onchange: () => callback(select.value)}, ...options.map(([v, text]) => make("option", {value: v, selected: v === value}, text)));
  return make("label", {}, label, select);
}

/* ---- canvases ---- */

/* A canvas of a height in CSS pixels that draws itself sharply at each size. draw(pen, width, height). */
function drawing(height, draw, label) {
  const canvas = make("canvas", {tabindex: "0", role: "img", "aria-label": label});
  canvas.redraw = () => {
    const width = canvas.clientWidth, h = typeof height === "function" ? height(width) : height, ratio = devicePixelRatio || 1;
    if (!width) return;
    canvas.style.height = h + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(h * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    draw(pen, width, h);
  };
  new ResizeObserver(() => canvas.redraw()).observe(canvas);
  redraws.add(canvas);
  return canvas;
}
const redraws = new Set();
/* Text that fits, or a part of it, or nothing. */
function fitted(pen, text, width) {
  if (width < 24) return "";
  const n = Math.floor(width / 6.2);
  if (text.length <= n && pen.measureText(text).width <= width) return text;
  let part = text.slice(0, n);
  while (part && pen.measureText(part + "…").width > width) part = part.slice(0, -1);
  return part.length > 1 ? part + "…" : "";
}
/* A colour that depends on the name only; h: the middle of its hues. */
function hueOf(name, h, spread = 36) {
  let n = 7;
  for (let i = 0; i < name.length; i++) n = (n * 31 + name.charCodeAt(i)) >>> 0;
  return `hsl(${h + (n % spread) - spread / 2} ${isDark() ? "42% 34%" : "72% 74%"})`;
}
const HUES = {phase: 212, stage: 190, pass: 160, unit: 34, task: 280, statement: 95, kernel: 15};
const colourOf = item => hueOf(item.name.replace(/ #\d+$/, ""), HUES[item.kind] ?? 210);

/* ---- tabs ---- */

const tabs = make("nav", {role: "tablist", "aria-label": "views"}), main = make("main");
let open = null;
function show(id, focus) {
  const v = views.find(v => v.id === id && v.tab);
  if (!v) return;
  open = v;
  hideTip();
  for (const other of views.filter(o => o.tab)) {
    other.tab.setAttribute("aria-selected", other === v);
    other.tab.tabIndex = other === v ? 0 : -1;
    other.host.hidden = other !== v;
  }
  if (focus) v.tab.focus();
  v.tab.scrollIntoView({block: "nearest", inline: "nearest"});
  fill(v);
  if (location.hash !== "#" + id) history.replaceState(null, "", "#" + id);
}
function fill(v) {
  if (v.filled === chosen) return;
  v.filled = chosen;
  v.host.replaceChildren();
  v.host.onkeydown = null;
  v.draw(v.host, data);
  if (!v.host.querySelector("h1, h2")) v.host.setAttribute("aria-label", v.title);
}
function layTabs() {
  tabs.replaceChildren();
  main.replaceChildren();
  views.forEach(v => { v.tab = v.host = null; v.filled = undefined; });
  for (const v of views.filter(v => !v.when || v.when(data))) {
    v.tab = make("button", {role: "tab", id: "tab-" + v.id, "aria-controls": "view-" + v.id, onclick: () => show(v.id)}, v.title);
    v.host = make("section", {role: "tabpanel", id: "view-" + v.id, "aria-labelledby": "tab-" + v.id, hidden: true});
    tabs.append(v.tab);
    main.append(v.host);
  }
  const shown = views.filter(v => v.tab);
  tabs.onkeydown = e => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (step) show(shown[(shown.indexOf(open) + step + shown.length) % shown.length].id, true);
  };
  show(shown.some(v => v.id === location.hash.slice(1)) ? location.hash.slice(1) : open && open.tab ? open.id : shown[0].id);
}

/* ---- the page ---- */

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  redraws.forEach(c => c.isConnected ? c.redraw() : redraws.delete(c));
}
const KEYS = [["1 … 9", "open a view"], ["← →", "in a timeline: move; in a flame graph: the next part"], ["+ − 0", "zoom in, out, show everything"],
  ["↑ ↓ Enter Esc", "in a flame graph: caller, called part, zoom, back"], ["/", "search"], ["d", "dark or light"], ["?", "this list"]];
const help = make("dialog", {"aria-label": "keys"}, make("h2", {}, "Keys"), make("table", {}, make("tbody", {}, ...KEYS.map(([k, what]) =>
  make("tr", {}, make("td", {}, make("kbd", {}, k)), make("td", {}, what))))), make("form", {method: "dialog"}, make("p", {}, make("button", {}, "close"))));

function describe() {
  const p = profile();
  if (!p) return data.about || "";
  return [p.isBuild ? "build" : "run", p.settings.models, plural(p.samples, "sample"), p.machine.cpu, p.machine.device !== "cpu" ? p.machine.device : "",
    "trib " + p.trib.version].filter(Boolean).join(" · ");
}
function start() {
  const about = make("span", {class: "about"}, describe());
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", e => setTheme(e.matches ? "dark" : "light"));
  const header = make("header", {}, make("h1", {}, data.title), about);
  if (data.profiles.length > 1)
    header.append(chooser("profile", data.profiles.map((e, i) => [String(i), e.name]), "0", v => {
      chosen = Number(v);
      about.textContent = describe();
      layTabs();
    }));
  header.append(make("button", {onclick: () => setTheme(isDark() ? "light" : "dark"), "aria-label": "dark or light"}, "◐"),
    make("button", {onclick: () => help.showModal(), "aria-label": "keys"}, "?"));
  document.body.append(header, tabs, main, tip, help);
  layTabs();
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    const shown = views.filter(v => v.tab);
    if (e.key >= "1" && e.key <= "9" && shown[e.key - 1]) show(shown[e.key - 1].id, true);
    else if (e.key === "d") setTheme(isDark() ? "light" : "dark");
    else if (e.key === "?") help.showModal();
    else if (e.key === "/" && open.host.querySelector("input[type=search]")) open.host.querySelector("input[type=search]").focus();
    else return;
    e.preventDefault();
  });
  addEventListener("beforeprint", () => views.filter(v => v.tab).forEach(v => { v.host.hidden = false; fill(v); }));
  addEventListener("afterprint", () => show(open.id));
}
addEventListener("DOMContentLoaded", start);
