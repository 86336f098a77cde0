/* Two profiles side by side: what changed by the test of the comparison, and both flame graphs coloured by change. */
"use strict";
(() => {
  const NAMES = data.changes || {};

  /* From blue (faster) over grey to red (slower); unchanged within two per cent. */
  function changeColour(n) {
    if (n.before === null) return css("--bar");
    if (!n.before) return isDark() ? "#8d6a1f" : "#ffd98a";
    const r = Math.log2(n.value / n.before), strength = Math.min(1, Math.abs(r));
    if (Math.abs(r) < Math.log2(1.02)) return css("--line");
    return `hsl(${r > 0 ? 4 : 212} ${30 + 55 * strength}% ${isDark() ? 24 + 18 * strength : 90 - 30 * strength}%)`;
  }
  function note(tree, other, p, metric) {
    const of = new Map(other.items.map(i => [i.kind + " " + i.path, i]));
    (function visit(n) {
      const same = n.item && of.get(n.item.kind + " " + n.item.path);
      n.before = n.item ? (same ? at(same, metric) : 0) : null;
      n.children.forEach(visit);
    })(tree);
    return tree;
  }
  function rowsTable(c) {
    const rows = c.rows, size = r => Math.abs((r.after || 0) - (r.before || 0)) * (unitOf(r.metric) === "ns" ? 1 : 1e-6);
    const columns = [
      {title: "change", value: r => NAMES[r.change][0], text: r => make("span", {class: NAMES[r.change][1], title: r.reason || ""}, NAMES[r.change][0])},
      {title: "part", value: r => r.item, kind: "name"}, {title: "kind", value: r => r.kind}, {title: "metric", value: r => TITLES[r.metric] || r.metric},
      {title: "before", value: r => r.before ?? 0, text: r => figure(r.before, unitOf(r.metric)), kind: "number"},
      {title: "after", value: r => r.after ?? 0, text: r => figure(r.after, unitOf(r.metric)), kind: "number"},
      {title: "ratio", value: r => r.ratio ?? 0, text: r => r.ratio ? "x " + r.ratio.toFixed(2) : "", kind: "number"},
      {title: "95 % interval", value: r => r.low ?? 0, text: r => r.tested && r.low && r.high ? `${r.low.toFixed(2)} … ${r.high.toFixed(2)}` : "", kind: "number"},
      {title: "difference", value: size, text: r => figure((r.after || 0) - (r.before || 0), unitOf(r.metric)), kind: "number"},
    ];
    const pick = (change, word) => rows.filter(r => (change ? r.change === change : true) && (!word || r.item.toLowerCase().includes(word)));
    let change = rows.some(r => r.change === "REGRESSION") ? "REGRESSION" : "", word = "";
    const t = table(columns, pick(change, word), {sort: 8, limit: 40, caption: "changes"});
    const again = () => t.show(pick(change, word));
    const options = [["", "all"], ...Object.entries(NAMES).map(([k, [name]]) => [k, `${name} (${grouped(c.counts[k] || 0)})`])];
    return make("div", {}, make("h2", {}, "Changes"), make("div", {class: "tools"}, chooser("show", options, change, v => { change = v; again(); }),
      search("find a part", v => { word = v; again(); })), t);
  }

  view({id: "compare", title: "Comparison", when: d => (d.comparisons || []).length > 0, draw: host => {
    const list = data.comparisons.map(k => ({...k.report, before_profile: k.before, after_profile: k.after, conditions: k.conditions}));
    let c = list[0], metric = "wall_ns";
    const stage = make("div");
    function build() {
      const before = data.profiles[c.before_profile].profile, after = data.profiles[c.after_profile].profile;
      const kinds = before.isBuild ? ["phase"] : null, total = c.rows.filter(r => r.kind === "total");
      const graphs = make("div");
      stage.replaceChildren(
        make("p", {}, make("b", {}, before.title), " against ", make("b", {}, after.title),
          c.conditions ? make("span", {class: "warn"}, " under different conditions: " + c.conditions) : ""),
        make("div", {class: "cards"}, ...total.map(r => make("div", {class: "card"}, make("span", {}, TITLES[r.metric]),
          make("b", {}, r.ratio ? "x " + r.ratio.toFixed(3) : ""), make("span", {class: NAMES[r.change][1]}, `${NAMES[r.change][0]}: ${figure(r.before, unitOf(r.metric))} → ${figure(r.after, unitOf(r.metric))}`))),
          ...Object.entries(NAMES).filter(([k]) => c.counts[k]).map(([k, [name, kind]]) => make("div", {class: "card"}, make("span", {}, name), make("b", {class: kind}, grouped(c.counts[k])), make("span", {}, "figures")))),
        rowsTable(c), make("h2", {}, "Flame graphs"),
        make("div", {class: "tools"}, chooser("width", ["wall_ns", "cpu_ns", "allocations", "operations"].filter(m => hasMetric(before, m) && hasMetric(after, m)).map(m => [m, TITLES[m]]), metric, v => { metric = v; build(); }),
          make("span", {class: "legend"}, make("span", {}, make("i", {style: "background: hsl(4 85% 62%)"}), "slower than before"), make("span", {}, make("i", {style: "background: hsl(212 85% 62%)"}), "faster"),
            make("span", {}, make("i", {style: "background: #e0b040"}), "new"))), graphs);
      for (const [p, title] of [[after, "after: " + after.title], [before, "before: " + before.title]]) {
        graphs.append(make("h2", {}, title));
        const tree = flameTree(p, metric, kinds);
        flame(graphs, p === after ? note(tree, before, p, metric) : tree, {profile: p, metric, colour: p === after ? changeColour : undefined, label: title});
      }
    }
    if (list.length > 1)
      host.append(make("div", {class: "tools"}, chooser("compare", list.map((k, i) => [String(i), `${data.profiles[k.before_profile].name} and ${data.profiles[k.after_profile].name}`]), "0", v => {
        c = list[Number(v)];
        build();
      })));
    host.append(stage);
    build();
  }});
})();
