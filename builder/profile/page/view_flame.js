/* The flame graph of a compile or a run. */
"use strict";
view({id: "flame", title: "Flame graph", when: d => d.profiles.some(e => e.profile.items.length > 0), draw: host => {
  const p = profile(), metrics = ["wall_ns", "cpu_ns", "allocations", "read_bytes", "written_bytes", "operations", "bytes"].filter(m => hasMetric(p, m));
  const kinds = [...new Set(p.roots.map(i => i.kind))], groups = p.isBuild ? [["phase", "phases"], ["unit", "units and tasks"]].filter(([k]) => kinds.includes(k)) : [["", "all"]];
  let metric = metrics[0], group = groups[0]?.[0] || "", graph = null, word = "";
  const stage = make("div"), found = make("span", {class: "note", "aria-live": "polite"});
  const look = text => {
    word = text;
    const r = graph.search(word);
    found.textContent = r ? `${plural(r.count, "match").replace("matchs", "matches")}, ${percent(r.share)} of the whole` : "";
  };
  function build() {
    stage.replaceChildren();
    const of = group === "phase" ? ["phase"] : group === "unit" ? ["unit", "task"] : null;
    graph = flame(stage, flameTree(p, metric, of), {profile: p, metric});
    look(word);
  }
  const tools = make("div", {class: "tools"});
  if (groups.length > 1) tools.append(chooser("by", groups, group, v => { group = v; build(); }));
  if (metrics.length > 1) tools.append(chooser("width", metrics.map(m => [m, TITLES[m]]), metric, v => { metric = v; build(); }));
  tools.append(search("find a part", look), found);
  const present = [...new Set(p.items.map(i => i.kind))];
  host.append(tools, stage, make("p", {class: "legend"}, ...present.map(k => make("span", {}, make("i", {style: `background: ${hueOf("x", HUES[k] ?? 210, 1)}`}), k)),
    make("span", {}, "a click zooms, Escape shows everything")));
  build();
}});
