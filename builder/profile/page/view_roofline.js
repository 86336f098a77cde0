/* A roofline of a run: operations a second over operations a byte, a circle for each kernel, beside what the machine can do. S. Williams et al., "Roofline: an
   insightful visual performance model", CACM 2009. */
"use strict";
(() => {
  const MEMORY_BOUND = 5, COMPUTE_BOUND = 20, MOST_CIRCLES = 2000;
  const BEYOND = 1.1, CACHE = 256 * 1024; // as in kernel_rows.c
  const CLASSES = ["memory", "mixed", "compute"];
  const isInt8 = i => /_i8_|^tri_(matmul|conv)_trits/.test(i.note || "");

  /* As in verdicts.def. */
  const VERDICTS = [[0.9, "at the memory's rate", "at the ceiling"], [0.75, "near the memory's rate", "near the ceiling"]];

  function verdict(row, whole, shortest) {
    if (row.ns < whole / 200) return "small";
    if (row.ns / (at(row.item, "calls") || 1) < shortest) return "too short for the clock";
    if (!(row.share > 0) && !row.inCaches) return "";
    const found = VERDICTS.find(v => row.share >= v[0]);
    return found ? found[row.byMemory ? 1 : 2] : row.inCaches ? "its data stays in the caches" : `${(1 / row.share).toFixed(1)} times the least time`;
  }
  function rowsOf(p) {
    const f = p.facts, read = f["ceiling.read_bytes"] || 0, whole = median(p.total.wall_ns), moved = median(p.total.bytes || []), fits = moved > 0 && moved <= CACHE;
    const own = (i, m) => Math.max(0, (i.children || []).reduce((sum, c) => sum - at(c, m), at(i, m))); // a loop of a run contains the statements of its body
    return p.items.filter(i => (i.kind === "kernel" || i.kind === "statement") && own(i, "wall_ns") > 0).map(i => {
      const row = {item: i, ns: own(i, "wall_ns"), bytes: own(i, "bytes"), operations: own(i, "operations")}, seconds = row.ns / 1e9;
      row.rate = row.operations / seconds;
      row.intensity = row.bytes ? row.operations / row.bytes : 0;
      row.class = row.intensity < MEMORY_BOUND ? "memory" : row.intensity <= COMPUTE_BOUND ? "mixed" : "compute";
      const shortest = 10 * (f.clock_ns || 0), computes = row.operations > 0, speed = computes ? row.rate : row.bytes / seconds;
      const arithmetic = f[isInt8(i) ? "ceiling.int8_ops" : "ceiling.float_ops"] || 0, ofMemory = computes ? row.intensity * read : f["ceiling.copy_bytes"] || 0;
      row.byMemory = !computes || row.intensity * read < arithmetic;
      row.inCaches = row.byMemory && ofMemory > 0 && (fits || speed > BEYOND * ofMemory); // then only arithmetic is a limit
      row.byMemory = row.byMemory && !row.inCaches;
      const limit = row.byMemory ? ofMemory : computes ? arithmetic : 0;
      row.share = limit > 0 && row.ns / (at(i, "calls") || 1) >= shortest ? speed / limit : NaN;
      row.verdict = verdict(row, whole, shortest);
      return row;
    }).sort((a, b) => b.ns - a.ns);
  }
  const isLaunch = r => at(r.item, "work_group") > 0;
  const tipOf = (r, whole) => [["time", figure(r.ns, "ns")], ["of the run", percent(r.ns / whole)], ["operations", rate(r.rate, "OP/s")], ["data", rate(r.bytes / r.ns * 1e9, "B/s")],
    ["operations a byte", r.intensity.toPrecision(3)], ["bound by", r.class === "mixed" ? "memory or compute" : r.class], ["of the roofline", percent(r.share)],
    ["occupancy", isLaunch(r) ? "at most " + percent(at(r.item, "occupancy")) : ""], ["verdict", r.verdict], ["at", r.item.at]];

  /* The picture; returns {element, mark(word)}. */
  function picture(p, rows) {
    const WIDTH = 1100, HEIGHT = 520, LEFT = 66, RIGHT = 14, TOP = 14, BOTTOM = 44, f = p.facts, whole = median(p.total.wall_ns);
    const shown = rows.filter(r => r.operations > 0 && r.bytes > 0).slice(0, MOST_CIRCLES);
    const read = f["ceiling.read_bytes"], roofs = read ? [["float32", f["ceiling.float_ops"]], ["int8", f["ceiling.int8_ops"]]].filter(r => r[1] > 0) : [];
    const decades = ([a, b]) => [10 ** Math.floor(Math.log10(a)), 10 ** Math.ceil(Math.log10(b * 1.01))];
    const x = d3.scaleLog(decades([Math.min(0.1, d3.min(shown, r => r.intensity)), Math.max(100, d3.max(shown, r => r.intensity))]), [LEFT, WIDTH - RIGHT]);
    const y = d3.scaleLog(decades([Math.min(d3.min(shown, r => r.rate), 1e9), Math.max(d3.max(shown, r => r.rate), ...roofs.map(r => r[1]))]), [HEIGHT - BOTTOM, TOP]);
    const svg = d3.create("svg").attr("viewBox", `0 0 ${WIDTH} ${HEIGHT}`).attr("role", "group").attr("aria-label", `roofline with ${plural(shown.length, "kernel")}`).attr("class", "roofline");
    const [x0, x1] = x.domain(), [y0] = y.domain(), decade = v => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6;
    svg.append("g").attr("class", "grid").selectAll("line").data([...x.ticks().filter(decade).map(v => [x(v), TOP, x(v), HEIGHT - BOTTOM]), ...y.ticks().filter(decade).map(v => [LEFT, y(v), WIDTH - RIGHT, y(v)])])
      .join("line").attr("x1", d => d[0]).attr("y1", d => d[1]).attr("x2", d => d[2]).attr("y2", d => d[3]);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${HEIGHT - BOTTOM})`).call(d3.axisBottom(x).tickValues(x.ticks().filter(decade)).tickFormat(v => String(v)));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${LEFT},0)`).call(d3.axisLeft(y).tickValues(y.ticks().filter(decade)).tickFormat(v => v >= 1e12 ? v / 1e12 + " T" : v / 1e9 + " G"));
    svg.append("text").attr("x", (LEFT + WIDTH) / 2).attr("y", HEIGHT - 8).attr("text-anchor", "middle").text("operations a byte");
    svg.append("text").attr("transform", `translate(14,${HEIGHT / 2}) rotate(-90)`).attr("text-anchor", "middle").text("operations a second");
    for (const v of [MEMORY_BOUND, COMPUTE_BOUND])
      if (v > x0 && v < x1) svg.append("line").attr("class", "bound").attr("x1", x(v)).attr("x2", x(v)).attr("y1", TOP).attr("y2", HEIGHT - BOTTOM);
    for (const [name, most] of roofs) {
      const ridge = most / read, points = [[Math.max(x0, y0 / read), 0], [Math.min(Math.max(ridge, x0), x1), 0], [x1, 0]].map(([i]) => [x(i), y(Math.max(y0, Math.min(most, i * read)))]);
      svg.append("polyline").attr("class", "roof").attr("points", points.map(d => d.join(",")).join(" "));
      svg.append("text").attr("class", "roofname").attr("x", WIDTH - RIGHT - 4).attr("y", y(most) - 5).attr("text-anchor", "end").text(`${name}: ${rate(most, "OP/s")}`);
    }
    if (read) svg.append("text").attr("class", "roofname").attr("text-anchor", "middle").attr("transform", () => {
      const i = Math.sqrt(Math.max(x0, y0 / read) * Math.min(roofs[0][1] / read, x1)), angle = Math.atan2(y(2 * i * read) - y(i * read), x(2 * i) - x(i)) * 180 / Math.PI;
      return `translate(${x(i)},${y(i * read) - 8}) rotate(${angle})`;
    }).text(`memory: ${rate(read, "B/s")}`);

    const place = r => ({clientX: r.getBoundingClientRect().right, clientY: r.getBoundingClientRect().bottom});
    const circles = svg.append("g").selectAll("circle").data(shown).join("circle").attr("cx", r => x(r.intensity)).attr("cy", r => y(r.rate)).attr("r", r => 4 + 16 * Math.sqrt(r.ns / whole))
      .attr("class", r => "kernel " + r.class).attr("tabindex", "0").attr("role", "img").attr("aria-label", r => `${r.item.path}: ${r.verdict}`)
      .on("mousemove", r => showTip(d3.event, r.item.path, tipOf(r, whole), r.item.note || "")).on("mouseleave blur", hideTip)
      .on("focus", function (r) { showTip(place(this), r.item.path, tipOf(r, whole), r.item.note || ""); })
      .on("keydown", function (r, i, list) {
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[d3.event.key];
        if (!step || !list[i + step]) return;
        list[i + step].focus();
        d3.event.preventDefault();
      });
    return {element: svg.node(), mark: keep => circles.attr("opacity", r => keep(r) ? null : 0.12)};
  }

  view({id: "roofline", title: "Roofline", when: d => d.profiles.some(e => !e.profile.isBuild && hasMetric(e.profile, "operations")), draw: host => {
    const p = profile(), whole = median(p.total.wall_ns), rows = p.isBuild ? [] : rowsOf(p);
    if (!rows.some(r => r.operations > 0 && r.bytes > 0)) return host.append(make("p", {class: "note"}, "This profile counts no operations of kernels."));
    const chart = picture(p, rows), list = table([
      {title: "kernel", value: r => r.item.path, kind: "name"},
      {title: "place", value: r => r.item.at || ""},
      {title: "time", value: r => r.ns, text: r => figure(r.ns, "ns"), kind: "number"},
      {title: "of the run", value: r => r.ns, text: r => percent(r.ns / whole), kind: "number"},
      {title: "OP/s", value: r => r.rate, text: r => r.operations ? rate(r.rate, "OP/s") : "", kind: "number"},
      {title: "B/s", value: r => r.bytes / r.ns, text: r => rate(r.bytes / r.ns * 1e9, "B/s"), kind: "number"},
      {title: "OP/byte", value: r => r.intensity, text: r => r.intensity.toPrecision(3), kind: "number"},
      {title: "bound by", value: r => r.class},
      {title: "of the roofline", value: r => r.share || 0, text: r => percent(r.share), kind: "number"},
      ...rows.some(isLaunch) ? [{title: "group", value: r => at(r.item, "work_group"), text: r => isLaunch(r) ? String(at(r.item, "work_group")) : "", kind: "number"},
        {title: "occupancy", value: r => at(r.item, "occupancy"), text: r => isLaunch(r) ? percent(at(r.item, "occupancy")) : "", kind: "number"}] : [],
      {title: "verdict", value: r => r.verdict},
    ], rows, {sort: 2, limit: 20, caption: "kernels"});
    const found = make("span", {class: "note", "aria-live": "polite"});
    host.append(make("div", {class: "tools"}, search("find a kernel", word => {
      const keep = r => `${r.item.path} ${r.item.at || ""} ${r.item.note || ""} ${r.verdict}`.toLowerCase().includes(word), kept = rows.filter(keep);
      chart.mark(keep);
      list.show(kept);
      found.textContent = word ? plural(kept.length, "kernel") : "";
    }), found, make("span", {class: "legend"}, ...CLASSES.map(k => make("span", {}, make("i", {class: "swatch " + k}), k === "mixed" ? "mixed" : k + "-bound")), make("span", {}, "size: share of the time"))),
    chart.element,
    p.facts["ceiling.read_bytes"] ? "" : make("p", {class: "note"}, "This profile has no ceilings of the machine: `trib bench --profile-out` measures them."), list);
  }});
})();
