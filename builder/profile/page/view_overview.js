/* The first view: totals, bottlenecks, the costliest parts, and the conditions of the measurement. */
"use strict";
(() => {
  const UNSHOWN = new Set(["models"]);

  function spread(values, unit) {
    if (!values || values.length < 2) return "";
    return `± ${figure(d3.deviation(values), unit)}, least ${figure(d3.min(values), unit)}`;
  }
  function cards(p) {
    const f = p.facts, list = [];
    const add = (title, value, note = "") => value !== "" && list.push(make("div", {class: "card"}, make("span", {}, title), make("b", {}, value), make("span", {}, note)));
    for (const m of ["wall_ns", "cpu_ns", "peak_bytes", "private_dirty_bytes"])
      if (p.total[m]) add(TITLES[m], figure(median(p.total[m]), unitOf(m)), spread(p.total[m], unitOf(m)));
    if (p.isBuild) {
      if ("units.compiled" in f) add("units compiled", grouped(f["units.compiled"]), `${plural(f["units.reused"] || 0, "unit")} reused`);
      if (f["cache.hits"] + f["cache.misses"] > 0) add("cache hits", percent(f["cache.hit_rate"]), `${grouped(f["cache.hits"])} of ${grouped(f["cache.hits"] + f["cache.misses"])}`);
      if ("efficiency" in f) add("parallel efficiency", percent(f.efficiency), p.settings.jobs ? plural(Number(p.settings.jobs), "job") : "");
      if (f.critical_path_ns) add("critical path", figure(f.critical_path_ns, "ns"), percent(f.critical_path_ns / median(p.total.wall_ns)) + " of the build");
    } else {
      const seconds = median(p.total.wall_ns) / 1e9;
      if (p.total.operations) add("operations", rate(median(p.total.operations) / seconds, "OP/s"), figure(median(p.total.operations), "count") + " per run");
      if (p.total.bytes) add("data", rate(median(p.total.bytes) / seconds, "B/s"), figure(median(p.total.bytes), "bytes") + " per run");
      if ("utilisation" in f) {
        const bytes = f["transfer.to_device_bytes"] + f["transfer.from_device_bytes"], ns = f["transfer.to_device_ns"] + f["transfer.from_device_ns"];
        add("device busy", percent(f.utilisation), `${figure(f["device.kernels_ns"], "ns")} of kernels in a run`);
        add("transfers", percent(f["transfer.share"]), figure(bytes, "bytes") + " per run" + (ns ? ", " + rate(bytes / ns * 1e9, "B/s") : ""));
      }
      if (f.min_ns) add("least", figure(f.min_ns, "ns"), f.p95_ns ? "p95 " + figure(f.p95_ns, "ns") : "");
      if (f.runs) add("runs", grouped(f.runs), f.outliers !== undefined ? plural(f.outliers, "outlier") : "");
    }
    return make("div", {class: "cards"}, ...list);
  }

  const level = (s, value) => s.unit === "share" || s.unit === "count" ? percent(value) : figure(value, s.unit);
  function alerts(p) {
    const list = [], add = (kind, name, text) => list.push(make("div", {class: "alert " + kind}, make("b", {}, name), text));
    for (const gate of data.gates || []) {
      for (const f of gate.findings || [])
        add(f.verdict === "failed" ? "bad" : "", f.item, `${{failed: "gate failed", passed: "slower, but allowed"}[f.verdict] || "gate undecided"}: ${TITLES[f.metric] || f.metric} ` +
          (f.budget ? `${figure(f.value, unitOf(f.metric))}, over the budget ${f.budget}` : `x ${f.ratio?.toFixed(2) ?? ""}, ${f.verdict === "passed" ? "at most" : "more than"} x ${gate.threshold}`) + (f.cause ? `; ${f.cause}` : ""));
      if (gate.verdict === "passed") add("good", "gate passed", gate.visible ? `a change of ${percent(gate.visible)} of the whole would have been seen` : "");
    }
    for (const s of p.symptoms || [])
      add("", s.name, `${level(s, s.value)} is ${s.below ? "below" : "above"} ${level(s, s.limit)}: ${s.advice}`);
    return list;
  }

  /* Phases of a build, or kinds of items of a run, as one bar. */
  function shares(p) {
    const parts = p.isBuild ? p.roots.filter(i => i.kind === "phase").map(i => [i.name, at(i, "wall_ns"), i])
      : d3.rollups(p.items.filter(i => !i.children), v => d3.sum(v, i => at(i, "wall_ns")), i => i.name.replace(/ ?#\d+$/, "").replace(/^.* /, "")).map(([k, v]) => [k, v, null]);
    const total = d3.sum(parts, d => d[1]), list = parts.filter(d => d[1] > 0).sort((a, b) => b[1] - a[1]);
    const canvas = drawing(34, (pen, width) => {
      let x = 0;
      for (const [name, v] of list) {
        const w = v / total * width;
        pen.fillStyle = hueOf(name, 200, 320);
        pen.fillRect(x, 0, Math.max(w - 1, 0.5), 34);
        pen.fillStyle = css("--text");
        pen.fillText(fitted(pen, `${name} ${percent(v / total)}`, w - 10), x + 6, 17);
        x += w;
      }
    }, "shares of the time: " + list.slice(0, 8).map(d => `${d[0]} ${percent(d[1] / total)}`).join(", "));
    canvas.onmousemove = e => {
      let x = e.offsetX / canvas.clientWidth * total;
      const hit = list.find(d => (x -= d[1]) <= 0);
      if (hit) showTip(e, hit[0], hit[2] ? itemRows(p, hit[2]) : [["wall", figure(hit[1], "ns")], ["share", percent(hit[1] / total)]]);
    };
    canvas.onmouseleave = hideTip;
    return make("div", {}, make("h2", {}, p.isBuild ? "Phases" : "Operations"), canvas);
  }

  function pairs(title, object, text) {
    return make("div", {}, make("h2", {}, title), make("table", {}, make("tbody", {}, ...Object.entries(object).filter(([k, v]) => !UNSHOWN.has(k) && v !== "" && v !== undefined)
      .map(([k, v]) => make("tr", {}, make("td", {}, k), make("td", {class: "name"}, text(k, v)))))));
  }

  /* The parts that took the most time without their children, with a search. */
  function items(p) {
    const own = i => at(i, "wall_ns") - d3.sum(i.children || [], c => at(c, "wall_ns"));
    /* A build's phases and units are two views of the same time: list units and the stages that no unit shows. */
    const list = p.items.filter(i => i.wall_ns && at(i, "wall_ns") > 0).map(i => ({i, own: Math.max(0, own(i)), wall: at(i, "wall_ns")}));
    const columns = [
      {title: "part", value: r => r.i.path, kind: "name"},
      {title: "kind", value: r => r.i.kind},
      {title: "wall", value: r => r.wall, text: r => figure(r.wall, "ns"), kind: "number"},
      {title: "without children", value: r => r.own, text: r => figure(r.own, "ns"), kind: "number"},
      {title: "share", value: r => r.own, text: r => make("span", {class: "share", title: percent(r.own / p.busy)}, barOf(r.own / p.busy), " " + percent(r.own / p.busy))},
      {title: "calls", value: r => at(r.i, "calls"), text: r => figure(at(r.i, "calls"), "count"), kind: "number"},
    ];
    if (hasMetric(p, "peak_bytes")) columns.push({title: "peak memory", value: r => at(r.i, "peak_bytes"), text: r => figure(at(r.i, "peak_bytes"), "bytes"), kind: "number"});
    if (hasMetric(p, "operations")) columns.push({title: "OP/s", value: r => at(r.i, "operations") / r.wall, text: r => r.i.operations ? rate(at(r.i, "operations") / r.wall * 1e9, "OP/s") : "", kind: "number"},
      {title: "B/s", value: r => at(r.i, "bytes") / r.wall, text: r => rate(at(r.i, "bytes") / r.wall * 1e9, "B/s"), kind: "number"});
    if (p.items.some(i => i.at)) columns.push({title: "place", value: r => r.i.at || "", kind: "name"});
    const t = table(columns, list, {sort: 3, limit: 25, caption: "costliest parts"});
    const find = search("find a part", word => t.show(word ? list.filter(r => `${r.i.path} ${r.i.at || ""} ${r.i.note || ""}`.toLowerCase().includes(word)) : list));
    return make("div", {}, make("h2", {}, "Costliest parts"), make("div", {class: "tools"}, find, make("span", {class: "note"}, plural(list.length, "part"))), t);
  }

  view({id: "overview", title: "Overview", when: d => d.profiles.length > 0, draw: host => {
    const p = profile();
    host.append(cards(p), ...alerts(p), shares(p), items(p), make("div", {class: "columns"},
      pairs("Settings", p.settings, (k, v) => v),
      pairs("Machine", {cpu: p.machine.cpu, system: p.machine.system, device: p.machine.device, cores: p.machine.cores, memory: figure(p.machine.memory_bytes, "bytes"), trib: `${p.trib.version} ${p.trib.build}`.trim()}, (k, v) => String(v)),
      pairs("Facts", p.facts, (k, v) => figure(v, k.endsWith("_ns") ? "ns" : k.endsWith("bytes") && !k.startsWith("ceiling") ? "bytes" : "count"))));
  }});
})();
