/* Graphs of units, definitions and data flow, coloured by cost. What is behind a node opens with Enter or a double click. */
"use strict";
(() => {
  const MOST_EDGES = 4000;

  /* ---- pictures: {title, nodes: [{name, cost, place, rows(), note, kind, members, open}], edges: [[from, to, text]]} ---- */

  const headOf = name => name.split(/[ ([]/)[0];
  /* "encoder_layer_0" of "layers.encoder_layer_0"; "layer1.0" of "features.layer1.0". */
  const lastOf = path => path.match(/[^.]+(\.\d+)?$/)?.[0] || path;
  function costsOf(p) {
    return new Map(p ? p.items.filter(i => i.kind === "unit").map(i => [i.name, at(i, "wall_ns")]) : []);
  }
  const hasUnits = p => p.isBuild && p.items.some(i => i.kind === "unit");
  /* The units that a build compiled, and the calls between them. */
  function ofProfile(p) {
    const items = p.items.filter(i => i.kind === "unit"), number = new Map(items.map((item, i) => [item.id, i]));
    return {title: "compiled units", nodes: items.map(i => ({name: i.name, cost: at(i, "wall_ns"), place: i.at, rows: () => itemRows(p, i), note: i.note})),
      edges: p.edges.filter(e => number.has(e[0]) && number.has(e[1])).map(e => [number.get(e[0]), number.get(e[1])])};
  }
  const linksOf = list => list.flatMap((d, i) => d.uses.map(k => [i, k]));
  function ofUnits(g, costs) {
    return {title: "units", edges: linksOf(g.units), nodes: g.units.map(u => ({name: u.name, cost: costs.get(u.name) || (u.compile_ms || 0) * 1e6, place: `${u.file}:${u.line}`,
      rows: () => [["compiled in", u.compile_ms ? figure(u.compile_ms * 1e6, "ns") : ""], ["model", u.model], ["definition", u.definition], ["at", `${u.file}:${u.line}`]],
      note: u.signature + (u.built ? u.current ? "" : "; changed since the last build" : "; not compiled on its own"), faint: !u.built,
      open: u.steps.length ? () => ofFlow(g, u, costs) : null}))};
  }
  function ofDefinitions(g, costs) {
    const sums = new Map();
    for (const u of g.units) sums.set(u.definition_id, (sums.get(u.definition_id) || 0) + (costs.get(u.name) || (u.compile_ms || 0) * 1e6));
    return {title: "definitions", edges: linksOf(g.definitions), nodes: g.definitions.map(d => ({name: d.name, cost: sums.get(d.id) || 0, place: `${d.file}:${d.line}`,
      rows: () => [["kind", d.kind], ["result", d.type], ["at", `${d.file}:${d.line}`], ["compiled in", sums.get(d.id) ? figure(sums.get(d.id), "ns") : ""],
        ...d.types.map(t => [t.name, t.type])], note: d.signature, faint: d.std}))};
  }
  /* The statements of a unit, and the values that flow between them. */
  function ofFlow(g, u, costs) {
    return {title: u.name, isFlow: true, edges: u.values.map(v => [v.from, v.to, v.type]), nodes: u.steps.map(s => {
      const callee = s.unit === undefined ? null : g.units[s.unit], other = s.other === undefined ? null : g.units[s.other];
      return {name: s.layer ? `${lastOf(s.layer)}: ${headOf(s.name)}` : callee ? headOf(s.name) : s.name, kind: s.kind,
        cost: callee ? costs.get(callee.name) || (callee.compile_ms || 0) * 1e6 : 0, place: s.line ? `${u.file}:${s.line}` : "",
        rows: () => [["kind", s.kind], ["layer", s.layer], ["unit", callee ? callee.name : ""], ["else", other ? other.name : ""], ["at", s.line ? `${u.file}:${s.line}` : ""],
          ["compiled in", callee && callee.compile_ms ? figure(callee.compile_ms * 1e6, "ns") : ""]],
        note: callee ? callee.signature : "", open: callee ? () => ofFlow(g, callee, costs) : null};
    })};
  }
  const KEYS = {definition: n => headOf(n.name), file: n => (n.place || "").replace(/:\d+$/, "")};
  /* One node for each group: its cost is the sum of its members'. */
  function collapsed(picture, by) {
    const key = KEYS[by], number = new Map(), nodes = [], of = picture.nodes.map((n, i) => {
      const name = key(n) || n.name;
      if (!number.has(name)) {
        number.set(name, nodes.length);
        nodes.push({name, cost: 0, members: [], place: n.place});
      }
      const group = nodes[number.get(name)];
      group.cost += n.cost;
      group.members.push(i);
      return number.get(name);
    });
    const seen = new Set(), edges = [];
    for (const [a, b] of picture.edges) {
      const pair = of[a] * nodes.length + of[b];
      if (of[a] === of[b] || seen.has(pair)) continue;
      seen.add(pair);
      edges.push([of[a], of[b]]);
    }
    for (const n of nodes) {
      n.rows = () => [["units", grouped(n.members.length)], ["compiled in", n.cost ? figure(n.cost, "ns") : ""]];
      n.open = () => part(picture, n.members, n.name);
    }
    return {title: picture.title, nodes, edges};
  }
  function part(picture, members, title) {
    const number = new Map(members.map((m, i) => [m, i]));
    return {title, nodes: members.map(m => picture.nodes[m]), isFlow: picture.isFlow,
      edges: picture.edges.filter(e => number.has(e[0]) && number.has(e[1])).map(e => [number.get(e[0]), number.get(e[1]), e[2]])};
  }
  const withoutParameters = picture => part(picture, d3.range(picture.nodes.length).filter(i => picture.nodes[i].kind !== "parameter"), picture.title);

  /* From pale to red on a logarithmic scale of three decades; share: of the highest cost. */
  function heat(share) {
    if (!(share > 0)) return css("--panel");
    const s = Math.max(0, Math.min(1, 1 + Math.log10(share) / 3));
    return isDark() ? `hsl(${48 - 48 * s} ${30 + 35 * s}% ${22 + 20 * s}%)` : `hsl(${55 - 55 * s} 90% ${93 - 33 * s}%)`;
  }

  /* ---- the drawing of one picture ---- */

  function graphOf(host, panel, {onopen, onback, oncolours}) {
    let picture, laid, transform = d3.zoomIdentity, selected = -1, word = "", most = 1, buckets = [], isColouredDark = null, uses, usedBy, size = [0, 0];
    const heightOf = () => Math.max(320, innerHeight - Math.min(260, host.getBoundingClientRect().top + scrollY) - 84);
    const matches = n => word && `${n.name} ${n.place || ""} ${n.note || ""}`.toLowerCase().includes(word);
    const screen = v => [transform.applyX(laid.x[v]), transform.applyY(laid.y[v])];

    function curve(pen, way) {
      const u = laid.upright, half = (u ? laid.height : laid.width) / 2;
      let x = laid.x[way[0]] + (u ? 0 : half), y = laid.y[way[0]] + (u ? half : 0);
      pen.moveTo(x, y);
      for (let i = 1; i < way.length; i++) {
        const isLast = i === way.length - 1, x2 = laid.x[way[i]] - (!u && isLast ? half : 0), y2 = laid.y[way[i]] - (u && isLast ? half : 0);
        if (u && y2 < y) { /* to the next column */
          const free = laid.margin[way[i]], top = laid.y[way[i]] - half - 15;
          for (const [px, py] of [[x, y + 9], [free, y + 9], [free, top], [x2, top], [x2, y2]]) pen.lineTo(px, py);
        } else if (u) pen.bezierCurveTo(x, (y + y2) / 2, x2, (y + y2) / 2, x2, y2);
        else pen.bezierCurveTo((x + x2) / 2, y, (x + x2) / 2, y2, x2, y2);
        [x, y] = [x2, y2];
      }
      const back = u ? [[-4, -7], [4, -7]] : [[-7, -4], [-7, 4]]; /* the head */
      pen.moveTo(x + back[0][0], y + back[0][1]);
      pen.lineTo(x, y);
      pen.lineTo(x + back[1][0], y + back[1][1]);
    }
    function edgesOf(pen, list, colour, width) {
      pen.strokeStyle = colour;
      pen.lineWidth = width / transform.k ** 0.7;
      pen.beginPath();
      for (const i of list) curve(pen, laid.ways ? laid.ways[i] : laid.edges[i]);
      pen.stroke();
    }
    /* A label near the end of the edge's first part, a line lower if that place is taken. */
    function labelsOf(pen, list) {
      const taken = [];
      pen.font = "10px system-ui, sans-serif";
      pen.textAlign = "center";
      for (const i of list) {
        const text = laid.edges[i][2], [a, b] = laid.ways[i], isJump = laid.upright && laid.y[b] < laid.y[a], w = text ? pen.measureText(text).width + 4 : 0;
        const x = isJump ? laid.x[a] : laid.x[a] + (laid.x[b] - laid.x[a]) * 0.6;
        let y = isJump ? laid.y[a] + laid.height / 2 + 9 : laid.y[a] + (laid.y[b] - laid.y[a]) * 0.5;
        const clash = () => taken.some(t => Math.abs(t.y - y) < 11 && Math.abs(t.x - x) < (t.w + w) / 2);
        if (!w || taken.some(t => t.text === text && t.a === a && Math.abs(t.x - x) < 30)) continue;
        for (const dy of [12, -24]) if (clash()) y += dy;
        if (clash()) continue;
        taken.push({text, a, x, y, w});
        pen.fillStyle = css("--paper");
        pen.fillRect(x - w / 2, y - 6, w, 12);
        pen.fillStyle = css("--faint");
        pen.fillText(text, x, y);
      }
      pen.textAlign = "left";
    }
    function nodesOf(pen, width, height) {
      const w = laid.width, h = laid.height, k = transform.k, left = transform.invertX(0) - w, right = transform.invertX(width) + w, top = transform.invertY(0) - h, bottom = transform.invertY(height) + h;
      const seen = v => laid.x[v] > left && laid.x[v] < right && laid.y[v] > top && laid.y[v] < bottom;
      const grow = Math.max(0, 1 / k - 2) / 2; /* cells that would be thinner than a pixel */
      for (const [colour, list] of buckets) {
        pen.fillStyle = colour;
        for (const v of list) {
          if (!seen(v)) continue;
          const n = picture.nodes[v];
          pen.globalAlpha = word && !matches(n) ? 0.25 : n.kind === "parameter" || n.faint ? 0.75 : 1;
          pen.fillRect(laid.x[v] - w / 2 - grow, laid.y[v] - h / 2 - grow, w + 2 * grow, h + 2 * grow);
        }
      }
      pen.globalAlpha = 1;
      if (k * h < 7) return;
      pen.lineWidth = 1 / k;
      pen.strokeStyle = css("--line");
      for (let v = 0; v < picture.nodes.length; v++) {
        if (!seen(v)) continue;
        const n = picture.nodes[v];
        pen.setLineDash(n.faint ? [4, 3] : []);
        pen.strokeRect(laid.x[v] - w / 2, laid.y[v] - h / 2, w, h);
        pen.fillStyle = css("--text");
        pen.globalAlpha = word && !matches(n) ? 0.3 : 1;
        pen.font = (n.kind === "call" || n.open ? "600 " : n.kind === "input" || n.kind === "output" ? "italic " : "") + "12px system-ui, sans-serif";
        pen.fillText(fitted(pen, n.name, w - 12), laid.x[v] - w / 2 + 6, laid.y[v]);
      }
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }
    function mark(pen, v, colour, width) {
      pen.strokeStyle = colour;
      pen.lineWidth = width / transform.k;
      pen.strokeRect(laid.x[v] - laid.width / 2, laid.y[v] - laid.height / 2, laid.width, laid.height);
    }
    function colour() {
      isColouredDark = isDark();
      buckets = d3.nest().key(v => heat(picture.nodes[v].cost / most)).entries(d3.range(picture.nodes.length)).map(e => [e.key, e.values]);
      oncolours(most);
    }
    const canvas = drawing(heightOf, (pen, width, height) => {
      if (!picture) return;
      if (isColouredDark !== isDark()) colour();
      if (size[0] !== width || size[1] !== height) fit(false);
      const all = d3.range(laid.edges.length), touching = all.filter(i => selected >= 0 && (laid.edges[i][0] === selected || laid.edges[i][1] === selected));
      pen.save();
      pen.translate(transform.x, transform.y);
      pen.scale(transform.k, transform.k);
      if (laid.ways || all.length <= MOST_EDGES) edgesOf(pen, all, css("--line"), 1.2);
      edgesOf(pen, touching.filter(i => laid.edges[i][0] === selected), css("--accent"), 2);
      edgesOf(pen, touching.filter(i => laid.edges[i][1] === selected), css("--mark"), 2);
      nodesOf(pen, width, height);
      if (picture.isFlow && laid.ways && transform.k > 0.45) labelsOf(pen, all);
      for (let v = 0; word && v < picture.nodes.length; v++) if (matches(picture.nodes[v])) mark(pen, v, css("--mark"), 2);
      if (selected >= 0) mark(pen, selected, css("--accent"), 3);
      pen.restore();
    }, "graph");
    canvas.boxes = () => picture.nodes.map((n, v) => ({n, x: screen(v)[0] - laid.width * transform.k / 2, y: screen(v)[1] - laid.height * transform.k / 2,
      width: laid.width * transform.k, height: laid.height * transform.k}));

    const zoom = d3.zoom().on("zoom", () => { transform = d3.event.transform; canvas.redraw(); }), sheet = d3.select(canvas);
    /* Shows the whole picture; never so large that a small one looks coarse. */
    function fit(redraw = true) {
      const width = canvas.clientWidth, height = heightOf();
      const [x0, x1] = d3.extent(laid.x), [y0, y1] = d3.extent(laid.y), w = x1 - x0 + laid.width + 24, h = y1 - y0 + laid.height + (laid.ways ? 56 : 24), k = Math.min(width / w, height / h, 1.5);
      size = [width, height];
      transform = d3.zoomIdentity.translate((width - (x0 + x1) * k) / 2, (height - (y0 + y1) * k) / 2).scale(k);
      zoom.scaleExtent([Math.min(k, 1) / 2, 6]);
      canvas.__zoom = transform;
      if (redraw) canvas.redraw();
    }
    const under = e => {
      const x = transform.invertX(e.offsetX), y = transform.invertY(e.offsetY);
      for (let v = 0; v < picture.nodes.length; v++)
        if (Math.abs(laid.x[v] - x) <= laid.width / 2 && Math.abs(laid.y[v] - y) <= laid.height / 2) return v;
      return -1;
    };
    function linked(title, list, from) {
      if (!list.length) return [];
      return [make("h3", {}, `${title} (${grouped(list.length)})`), ...list.slice(0, 60).map(i => {
        const v = laid.edges[i][from], text = laid.edges[i][2];
        return make("button", {class: "row", onclick: () => select(v, true)}, picture.nodes[v].name, text ? make("span", {class: "note"}, " " + text) : null);
      })];
    }
    function describe() {
      const n = picture.nodes[selected];
      if (!n) {
        const list = d3.range(picture.nodes.length).filter(v => picture.nodes[v].cost > 0).sort((a, b) => picture.nodes[b].cost - picture.nodes[a].cost).slice(0, 14);
        panel.replaceChildren(make("h3", {}, list.length ? "Costliest" : picture.title), ...list.map(v => make("button", {class: "row", onclick: () => select(v, true)},
          picture.nodes[v].name, make("span", {class: "note"}, " " + figure(picture.nodes[v].cost, "ns")))));
        return;
      }
      const all = d3.range(laid.edges.length);
      panel.replaceChildren(make("h3", {}, n.name), make("div", {class: "pairs"}, ...n.rows().filter(r => r[1]).map(([k, v]) => make("div", {}, make("span", {}, k), v))),
        n.note ? make("p", {class: "note"}, n.note) : "", n.open ? make("button", {onclick: () => onopen(n)}, n.members ? "show its units" : "show its data flow") : "",
        ...linked(picture.isFlow ? "gets" : "used by", all.filter(i => laid.edges[i][1] === selected), 0), ...linked(picture.isFlow ? "flows to" : "uses", all.filter(i => laid.edges[i][0] === selected), 1));
    }
    function select(v, centre) {
      selected = v;
      describe();
      if (centre && v >= 0) {
        const [x, y] = screen(v);
        if (x < 0 || y < 0 || x > canvas.clientWidth || y > canvas.clientHeight || transform.k * laid.height < 12) {
          const k = Math.max(transform.k, 1);
          sheet.call(zoom.transform, d3.zoomIdentity.translate(canvas.clientWidth / 2 - laid.x[v] * k, canvas.clientHeight / 2 - laid.y[v] * k).scale(k));
        }
      }
      canvas.redraw();
    }
    function step(key) {
      if (selected < 0) return select(0, true);
      const forward = laid.upright ? "ArrowDown" : "ArrowRight", back = laid.upright ? "ArrowUp" : "ArrowLeft";
      const along = key === forward ? uses[selected] : key === back ? usedBy[selected] : null;
      if (along) return along.length && select(along[0], true);
      const same = laid.upright ? "y" : "x", other = laid.upright ? "x" : "y", sign = key === "ArrowDown" || key === "ArrowRight" ? 1 : -1;
      let best = -1;
      for (let v = 0; v < picture.nodes.length; v++) {
        const d = (laid[other][v] - laid[other][selected]) * sign;
        if (Math.abs(laid[same][v] - laid[same][selected]) < 1 && d > 0 && (best < 0 || d < (laid[other][best] - laid[other][selected]) * sign)) best = v;
      }
      if (best >= 0) select(best, true);
    }
    canvas.onmousemove = e => {
      const v = e.buttons ? -1 : under(e), n = picture.nodes[v];
      canvas.style.cursor = n ? "pointer" : "grab";
      if (n) showTip(e, n.name, n.rows(), n.note || "");
      else hideTip();
    };
    canvas.onmouseleave = hideTip;
    canvas.onclick = e => select(under(e), false);
    canvas.ondblclick = e => { const n = picture.nodes[under(e)]; if (n && n.open) onopen(n); };
    canvas.onkeydown = e => {
      const n = picture.nodes[selected];
      if (e.key.startsWith("Arrow")) step(e.key);
      else if (e.key === "Enter" && n && n.open) onopen(n);
      else if (e.key === "Escape" && selected >= 0) select(-1);
      else if (e.key === "Escape" || e.key === "Backspace") onback();
      else if (e.key === "+" || e.key === "=") sheet.call(zoom.scaleBy, 1.5);
      else if (e.key === "-") sheet.call(zoom.scaleBy, 1 / 1.5);
      else if (e.key === "0") fit();
      else return;
      e.preventDefault();
    };
    sheet.call(zoom).on("dblclick.zoom", null);
    host.append(canvas);
    return {canvas, fit, show(next) {
      picture = next;
      selected = -1;
      most = d3.max(picture.nodes, n => n.cost) || 1;
      laid = layered(picture.nodes.length, picture.edges, picture.nodes.map(n => n.cost), [canvas.clientWidth || 900, heightOf()], picture.isFlow);
      uses = picture.nodes.map(() => []);
      usedBy = picture.nodes.map(() => []);
      for (const [a, b] of laid.edges) { uses[a].push(b); usedBy[b].push(a); }
      isColouredDark = null;
      canvas.setAttribute("aria-label", `${picture.title}: ${plural(picture.nodes.length, "node")}, ${plural(picture.edges.length, "edge")}`);
      describe();
      fit();
    }, search(text) {
      word = text;
      const found = d3.range(picture.nodes.length).filter(v => matches(picture.nodes[v]));
      if (found.length) select(found[0], true);
      else canvas.redraw();
      return found.length;
    }};
  }

  view({id: "graph", title: "Graph", when: d => Boolean(d.graph) || d.profiles.some(e => hasUnits(e.profile)), draw: (host, d) => {
    const p = profile(), costs = costsOf(p && p.isBuild ? p : null), g = d.graph, pictures = [];
    if (g) for (const m of g.models) for (const e of m.entries)
      pictures.push([`data flow of ${m.name === e.name ? m.name : `${m.name}, ${e.name}`}`, () => ofFlow(g, g.units[e.unit], costs)]);
    if (g) pictures.push(["units and calls", () => ofUnits(g, costs)], ["definitions", () => ofDefinitions(g, costs)]);
    if (p && hasUnits(p)) pictures.unshift(["compiled units", () => ofProfile(p)]);
    if (!pictures.length) return host.append(make("p", {class: "note"}, "This profile has no units."));

    let line = [], by = "", parameters = false;
    const crumbs = make("div", {class: "crumbs", role: "navigation", "aria-label": "opened parts"}), panel = make("aside", {"aria-label": "chosen node"}), sheet = make("div");
    const found = make("span", {class: "note", "aria-live": "polite"}), legend = make("span", {class: "legend"});
    const graph = graphOf(sheet, panel, {
      onopen: n => { line.push(n.open()); draw(); },
      onback: () => { if (line.length > 1) { line.pop(); draw(); } },
      oncolours: most => legend.replaceChildren(...most > 1 ? [make("span", {}, "compile time"), ...[0.001, 0.01, 0.1, 1].map(s =>
        make("span", {}, make("i", {style: `background: ${heat(s)}`}), figure(most * s, "ns")))] : []),
    });
    const box = make("label", {hidden: true}, make("input", {type: "checkbox", onchange: e => { parameters = e.target.checked; draw(); }}), "parameters");
    const groups = chooser("group by", [["", "nothing"], ["definition", "definition"], ["file", "file"]], "", v => { by = v; draw(); });
    const select = groups.querySelector("select");
    /* Groups that leave a picture a person can read, for more units than that. */
    function start(picture) {
      const sizes = Object.keys(KEYS).map(k => [k, new Set(picture.nodes.map(KEYS[k])).size]);
      const good = picture.isFlow || picture.nodes.length < 2500 ? null : sizes.find(([, size]) => size > 1 && size * 4 < picture.nodes.length);
      by = select.value = good ? good[0] : "";
    }
    function draw() {
      const top = line[line.length - 1], isFirst = line.length === 1;
      groups.hidden = top.isFlow || !isFirst;
      box.hidden = !top.isFlow;
      const shown = top.isFlow && !parameters ? withoutParameters(top) : by && isFirst && !top.isFlow ? collapsed(top, by) : top;
      graph.show(shown);
      crumbs.replaceChildren(...line.flatMap((k, i) => [i ? "›" : "", make("button", {onclick: () => { line.length = i + 1; draw(); }}, k.title)]),
        make("span", {class: "note"}, ` ${plural(shown.nodes.length, top.isFlow ? "step" : by && isFirst ? "group" : "node")}, ${plural(shown.edges.length, top.isFlow ? "value" : "edge")}`));
    }
    /* What only passes its input on to one unit shows that unit. */
    function unwrap() {
      for (let top = line[0], inner; top.isFlow; top = line[line.length - 1]) {
        inner = withoutParameters(top).nodes.filter(n => n.kind !== "input" && n.kind !== "output");
        if (inner.length !== 1 || !inner[0].open || line.length > 8) return;
        line.push(inner[0].open());
      }
    }
    function choose(i) {
      line = [pictures[i][1]()];
      unwrap();
      start(line[0]);
      draw();
    }
    host.append(make("div", {class: "tools"}, pictures.length > 1 ? chooser("show", pictures.map((e, i) => [String(i), e[0]]), "0", v => choose(Number(v))) : null, groups, box,
      search("find a node", text => { const n = graph.search(text); found.textContent = text ? plural(n, "match").replace("matchs", "matches") : ""; }), found,
      make("button", {onclick: () => graph.fit()}, "fit"), legend), crumbs, make("div", {class: "graph"}, sheet, panel),
    make("p", {class: "note"}, "Arrows move along edges. Enter or a double click opens a node, Escape goes back, + − 0 zoom."));
    choose(0);
  }});
})();
