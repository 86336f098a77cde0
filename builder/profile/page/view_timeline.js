/* When each worker did what, with the critical path and the counters below. */
"use strict";
(() => {
  const ROW = 17, GAP = 12, AXIS = 24, COUNTER = 46, LEFT = 76;

  /* Spans by lane, each with its depth: how many spans of its lane enclose it. */
  function lanesOf(p) {
    const lanes = d3.groups(p.spans.map(([item, lane, start, ns, critical]) => ({item: p.items[item], lane, start, ns, critical: critical === 1})), s => s.lane)
      .sort((a, b) => a[0] - b[0]);
    let y = AXIS;
    return lanes.map(([lane, spans]) => {
      spans.sort((a, b) => a.start - b.start || b.ns - a.ns);
      const stack = [];
      let depth = 0;
      for (const s of spans) {
        while (stack.length && stack.at(-1).start + stack.at(-1).ns <= s.start) stack.pop();
        s.depth = stack.length;
        depth = Math.max(depth, s.depth + 1);
        stack.push(s);
      }
      const l = {lane, spans, depth, y, rows: d3.range(depth).map(d => spans.filter(s => s.depth === d))};
      y += depth * ROW + GAP;
      return l;
    });
  }

  view({id: "timeline", title: "Timeline", when: d => d.profiles.some(e => e.profile.spans.length > 0), draw: host => {
    const p = profile();
    if (!p.spans.length) return host.append(make("p", {class: "note"}, "This profile has no timeline."));
    const lanes = lanesOf(p), end = d3.max(p.spans, s => s[2] + s[3]), counters = p.counters.filter(c => c.points.length);
    const below = d3.max(lanes, l => l.y + l.depth * ROW + GAP);
    let x = d3.scaleLinear([0, end], [LEFT, 800]), word = "", boxes = [], onlyCritical = false, transform = d3.zoomIdentity;

    function axis(pen, width, height) {
      pen.fillStyle = css("--faint");
      pen.strokeStyle = css("--line");
      pen.lineWidth = 1;
      for (const t of x.ticks(Math.max(2, width / 110))) {
        const at = x(t);
        if (at < LEFT) continue;
        pen.beginPath();
        pen.moveTo(at, AXIS - 6);
        pen.lineTo(at, height);
        pen.stroke();
        pen.fillText(figure(t, "ns"), at + 3, 9);
      }
    }
    function spansOf(pen, width, l) {
      l.rows.forEach((spans, depth) => {
        const y = l.y + depth * ROW;
        let full = -1; /* pixels before it are covered */
        for (const s of spans) {
          const a = Math.max(x(s.start), LEFT), b = Math.min(x(s.start + s.ns), width);
          if (b < LEFT || a > width || b < full + 0.4) continue;
          const w = Math.max(b - a, 0.6);
          full = a + w;
          const dim = (word && !s.item.path.toLowerCase().includes(word)) || (onlyCritical && !s.critical);
          pen.globalAlpha = dim ? 0.22 : 1;
          pen.fillStyle = colourOf(s.item);
          pen.fillRect(a, y, w, ROW - 2);
          if (s.critical) {
            pen.fillStyle = css("--mark");
            pen.fillRect(a, y + ROW - 4, w, 2);
          }
          if (w > 34) {
            pen.fillStyle = css("--text");
            pen.fillText(fitted(pen, s.item.name, w - 6), a + 3, y + ROW / 2 - 1);
          }
          if (w > 1.5) boxes.push({s, x: a, w, y});
          pen.globalAlpha = 1;
        }
      });
    }
    function counter(pen, width, c, y) {
      const most = d3.max(c.points, d => d[1]) || 1, scale = d3.scaleLinear([0, most], [y + COUNTER - 8, y + 6]);
      const area = d3.area().x(d => Math.max(LEFT, Math.min(width, x(d[0])))).y0(scale(0)).y1(d => scale(d[1])).curve(d3.curveStepAfter).context(pen);
      pen.beginPath();
      area([...c.points, [end, c.points.at(-1)[1]]]);
      pen.fillStyle = css("--bar");
      pen.fill();
      pen.fillStyle = css("--faint");
      pen.fillText(fitted(pen, c.name, LEFT - 8), 2, y + 14);
      pen.fillText(figure(most, c.unit), 2, y + 30);
    }
    const canvas = drawing(below + counters.length * COUNTER + 6, (pen, width, height) => {
      boxes = [];
      x = transform.rescaleX(d3.scaleLinear([0, end], [LEFT, width]));
      axis(pen, width, height);
      for (const l of lanes) {
        spansOf(pen, width, l);
        pen.fillStyle = css("--faint");
        pen.fillText(l.lane === 0 ? "main" : "worker " + l.lane, 2, l.y + ROW / 2 - 1);
      }
      counters.forEach((c, i) => counter(pen, width, c, below + i * COUNTER));
    }, `timeline of ${plural(lanes.length, "thread")} over ${figure(end, "ns")}`);
    canvas.boxes = () => boxes;

    const zoom = d3.zoom().scaleExtent([1, 1e5]).filter(e => d3.event.type !== "wheel" || d3.event.ctrlKey || d3.event.shiftKey || transform.k > 1 || d3.event.deltaY < 0)
      .on("zoom", () => { transform = d3.event.transform; canvas.redraw(); });
    const setExtent = () => zoom.extent([[LEFT, 0], [canvas.clientWidth, 1]]).translateExtent([[LEFT, 0], [canvas.clientWidth, 1]]);
    const picture = d3.select(canvas);
    new ResizeObserver(setExtent).observe(canvas);
    canvas.onmousemove = e => {
      const b = boxes.filter(b => e.offsetX >= b.x && e.offsetX <= b.x + b.w && e.offsetY >= b.y && e.offsetY < b.y + ROW).at(-1);
      if (!b) return hideTip();
      showTip(e, b.s.item.path, [["from", figure(b.s.start, "ns")], ["took", figure(b.s.ns, "ns")], ["of all", percent(b.s.ns / end)], ["critical path", b.s.critical ? "yes" : ""],
        ["at", b.s.item.at]], b.s.item.note || "");
    };
    canvas.onmouseleave = hideTip;
    canvas.onpointerdown = () => canvas.focus(); /* zoom keeps the browser from doing so */
    canvas.onkeydown = e => {
      const step = canvas.clientWidth / 5;
      if (e.key === "ArrowLeft") zoom.translateBy(picture, step / transform.k, 0);
      else if (e.key === "ArrowRight") zoom.translateBy(picture, -step / transform.k, 0);
      else if (e.key === "+" || e.key === "=") zoom.scaleBy(picture, 1.6);
      else if (e.key === "-") zoom.scaleBy(picture, 1 / 1.6);
      else if (e.key === "0" || e.key === "Escape") zoom.transform(picture, d3.zoomIdentity);
      else return;
      e.preventDefault();
    };
    const found = make("span", {class: "note", "aria-live": "polite"});
    const f = p.facts, waits = Object.entries(f).filter(([k, v]) => k.startsWith("wait.") && v > 0);
    host.append(make("div", {class: "tools"},
      search("find a part", text => {
        word = text;
        const list = word ? p.spans.filter(s => p.items[s[0]].path.toLowerCase().includes(word)) : [];
        found.textContent = word ? plural(list.length, "span") : "";
        canvas.redraw();
      }), found,
      make("label", {}, make("input", {type: "checkbox", onchange: e => { onlyCritical = e.target.checked; canvas.redraw(); }}), "only the critical path"),
      make("button", {onclick: () => zoom.transform(picture, d3.zoomIdentity)}, "show everything")),
    canvas,
    make("p", {class: "legend"}, make("span", {}, make("i", {style: "background: var(--mark); height: 3px; vertical-align: 3px"}), "critical path"),
      f.efficiency !== undefined ? make("span", {}, "efficiency " + percent(f.efficiency)) : null,
      f["workers.busy_share"] !== undefined ? make("span", {}, "workers busy " + percent(f["workers.busy_share"])) : null,
      ...waits.map(([k, v]) => make("span", {}, `idle for ${k.slice(5, -3)}: ${figure(v, "ns")}`)),
      p.samples > 1 ? make("span", {}, "the first of " + plural(p.samples, "sample")) : null));
    setExtent();
    picture.call(zoom);
  }});
})();
