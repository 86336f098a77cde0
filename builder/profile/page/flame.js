/* A flame graph on a canvas: used by the views "flame" and "compare". */
"use strict";

/* A node: {name, value, children, item, before}. The value of a node includes those of its children. */
function flameNode(name, value, children, item) { return {name, value, children, item, before: null}; }

/* The tree of a profile's items for one metric. `kinds`: those of the roots to show. */
function flameTree(p, metric, kinds) {
  const nodeOf = item => {
    const children = (item.children || []).map(nodeOf).filter(n => n.value > 0).sort((a, b) => b.value - a.value);
    return flameNode(item.name, Math.max(at(item, metric), d3.sum(children, c => c.value)), children, item);
  };
  const roots = p.roots.filter(i => !kinds || kinds.includes(i.kind)).map(nodeOf).filter(n => n.value > 0).sort((a, b) => b.value - a.value);
  return flameNode(p.isBuild ? "build" : "run", d3.sum(roots, n => n.value), roots, null);
}

/* flame(host, root, {profile, metric, height, colour, onzoom}): returns {search(word), zoom(node), matches}. Rectangles of the last drawing are kept to find
   what is under the pointer; parts narrower than a pixel are drawn together. */
function flame(host, root, {profile: p, metric, colour = n => n.item ? colourOf(n.item) : css("--bar"), rows = null, label = "flame graph"}) {
  const ROW = 20;
  let top = root, selected = null, word = "", boxes = [];
  const link = (n, parent, depth) => { n.parent = parent; n.depth = depth; n.children.forEach(c => link(c, n, depth + 1)); };
  link(root, null, 0);
  const depthOf = n => 1 + (n.children.length ? d3.max(n.children, depthOf) : 0);
  const crumbs = make("div", {class: "crumbs", role: "navigation", "aria-label": "zoomed part"});
  const matches = n => word && `${n.name} ${n.item?.at || ""} ${n.item?.note || ""}`.toLowerCase().includes(word);

  function place(n, x, width, y, pen) {
    if (width < 0.7) return;
    boxes.push({n, x, width, y});
    const dim = word && !matches(n);
    pen.globalAlpha = dim ? 0.3 : 1;
    pen.fillStyle = colour(n);
    pen.fillRect(x, y, Math.max(width - 0.6, 0.5), ROW - 1);
    if (word && !dim) {
      pen.strokeStyle = css("--mark");
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, Math.max(width - 2.6, 0.5), ROW - 3);
    }
    if (n === selected) {
      pen.strokeStyle = css("--accent");
      pen.lineWidth = 3;
      pen.strokeRect(x + 1, y + 1, Math.max(width - 2.6, 0.5), ROW - 3);
    }
    if (width > 30) {
      pen.fillStyle = css("--text");
      pen.fillText(fitted(pen, n.name, width - 8), x + 4, y + ROW / 2);
    }
    pen.globalAlpha = 1;
    let at = x, small = 0;
    for (const c of n.children) {
      const w = n.value ? width * c.value / n.value : 0;
      if (w < 0.7) small += w;
      else place(c, at, w, y + ROW, pen);
      at += w;
    }
    if (small >= 1) { /* many small parts: one box, hatched */
      pen.fillStyle = css("--line");
      pen.fillRect(at - small, y + ROW, small - 0.6, ROW - 1);
    }
  }
  const canvas = drawing(() => Math.max(3, rows || depthOf(top) + top.depth) * ROW, (pen, width) => {
    boxes = [];
    let line = [];
    for (let n = top.parent; n; n = n.parent) line.unshift(n);
    line.forEach((n, i) => { /* the way to the zoomed part */
      boxes.push({n, x: 0, width, y: i * ROW});
      pen.fillStyle = css("--panel");
      pen.fillRect(0, i * ROW, width, ROW - 1);
      pen.fillStyle = css("--faint");
      pen.fillText(fitted(pen, n.name, width - 8), 4, i * ROW + ROW / 2);
    });
    place(top, 0, width, line.length * ROW, pen);
  }, label);
  canvas.boxes = () => boxes;

  const rowsOf = n => {
    const list = n.item ? itemRows(p, n.item) : [[TITLES[metric], figure(n.value, unitOf(metric))]];
    if (n.before !== null) list.unshift(["before", figure(n.before, unitOf(metric))], ["change", n.before ? percent(n.value / n.before - 1) : "new"]);
    return list;
  };
  function zoom(n) {
    top = n;
    selected = n;
    const line = [];
    for (let k = n; k; k = k.parent) line.unshift(k);
    crumbs.replaceChildren(...line.flatMap((k, i) => [i ? "›" : "", make("button", {onclick: () => zoom(k)}, k.name)]),
      make("span", {class: "note"}, ` ${figure(n.value, unitOf(metric))}, ${percent(n.value / root.value)} of the whole`));
    canvas.redraw();
  }
  const under = e => boxes.find(b => e.offsetX >= b.x && e.offsetX < b.x + b.width && e.offsetY >= b.y && e.offsetY < b.y + ROW);
  canvas.onmousemove = e => {
    const b = under(e);
    canvas.style.cursor = b ? "pointer" : "default";
    if (b) showTip(e, b.n.name, rowsOf(b.n), b.n.item?.note || "");
    else hideTip();
  };
  canvas.onmouseleave = hideTip;
  canvas.onclick = e => { const b = under(e); if (b) zoom(b.n === top && b.n.parent ? b.n.parent : b.n); };
  canvas.onkeydown = e => {
    const siblings = selected?.parent?.children || [], i = siblings.indexOf(selected);
    const next = {ArrowUp: selected?.parent, ArrowDown: selected ? selected.children[0] : top, ArrowLeft: siblings[i - 1], ArrowRight: siblings[i + 1]}[e.key];
    if (e.key === "Enter" && selected) zoom(selected);
    else if (e.key === "Escape") zoom(root);
    else if (next) {
      selected = next;
      canvas.redraw();
      const b = boxes.find(b => b.n === selected), r = canvas.getBoundingClientRect();
      if (b) showTip({clientX: r.left + b.x, clientY: r.top + b.y}, b.n.name, rowsOf(b.n));
    } else return;
    e.preventDefault();
  };
  host.append(crumbs, canvas);
  zoom(root);

  /* Time of the parts that match, each second counted once. */
  function matched(n) { return matches(n) ? n.value : d3.sum(n.children, matched); }
  function count(n) { return (matches(n) ? 1 : 0) + d3.sum(n.children, count); }
  return {canvas, zoom, search: text => {
    word = text;
    canvas.redraw();
    return word ? {count: count(root), share: matched(root) / root.value} : null;
  }};
}
