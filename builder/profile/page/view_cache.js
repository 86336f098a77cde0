/* What the user's cache had, and why units were compiled. */
"use strict";
(() => {
  const PREFIX = "compiled.", TIME = "_ns";

  /* Reasons with their counts and times, from the facts of a build. */
  function reasonsOf(p) {
    return Object.keys(p.facts).filter(k => k.startsWith(PREFIX) && !k.endsWith(TIME) && p.facts[k] > 0).map(k => (
      {reason: k.slice(PREFIX.length), count: p.facts[k], ns: p.facts[k + TIME] || 0})).sort((a, b) => b.count - a.count);
  }
  const asked = p => (p.facts["cache.hits"] || 0) + (p.facts["cache.misses"] || 0);

  /* One bar: hits, misses by reason, and misses without one. */
  function bar(p, reasons) {
    const hits = p.facts["cache.hits"] || 0;
    const parts = [["hits", hits, null], ...reasons.map(r => [r.reason, r.count, r]), ["misses", Math.max(0, (p.facts["cache.misses"] || 0) - d3.sum(reasons, r => r.count)), null]].filter(d => d[1] > 0), total = d3.sum(parts, d => d[1]) || 1;
    const colourOfPart = i => parts[i][0] === "hits" ? `hsl(140 ${isDark() ? "40% 32%" : "45% 72%"})` : hueOf(parts[i][0], 22, 60);
    const canvas = drawing(40, (pen, width) => {
      let x = 0;
      parts.forEach(([name, n], i) => {
        const w = n / total * width;
        pen.fillStyle = colourOfPart(i);
        pen.fillRect(x, 0, Math.max(w - 1, n ? 0.5 : 0), 40);
        pen.fillStyle = css("--text");
        pen.fillText(fitted(pen, `${name}: ${grouped(n)}`, w - 10), x + 6, 20);
        x += w;
      });
    }, parts.map(d => `${d[0]}: ${d[1]}`).join(", "));
    canvas.onmousemove = e => {
      let left = e.offsetX / canvas.clientWidth * total;
      const hit = parts.find(d => (left -= d[1]) <= 0);
      if (hit) showTip(e, hit[0], [["units", grouped(hit[1])], ["share", percent(hit[1] / total)], ["compiled in", hit[2] ? figure(hit[2].ns, "ns") : ""]]);
    };
    canvas.onmouseleave = hideTip;
    return canvas;
  }

  view({id: "cache", title: "Cache", when: d => d.profiles.some(e => e.profile.isBuild && (asked(e.profile) || e.profile.facts["units.compiled"])), draw: host => {
    const p = profile(), f = p.facts, reasons = reasonsOf(p), units = p.isBuild ? p.items.filter(i => i.kind === "unit" && i.note) : [];
    if (!p.isBuild) return host.append(make("p", {class: "note"}, "A run uses no cache: choose the profile of a build."));
    const card = (title, value, note) => make("div", {class: "card"}, make("span", {}, title), make("b", {}, value), make("span", {}, note));
    host.append(make("div", {class: "cards"},
      card("hits", asked(p) ? percent(f["cache.hit_rate"] ?? f["cache.hits"] / asked(p)) : "–", `${grouped(f["cache.hits"] || 0)} of ${plural(asked(p), "look-up")}`),
      card("misses", grouped(f["cache.misses"] || 0), "units not found in the cache"),
      card("compiled", grouped(f["units.compiled"] || 0), `of ${plural(f.units || 0, "unit")}`),
      card("reused", grouped(f["units.reused"] || 0), "from the cache, the last build, or an equal unit")));
    if (asked(p)) host.append(make("h2", {}, "Look-ups"), bar(p, reasons));
    if (reasons.length) host.append(make("h2", {}, "Why units were compiled"), table([
      {title: "reason", value: r => r.reason, kind: "name"},
      {title: "units", value: r => r.count, text: r => grouped(r.count), kind: "number"},
      {title: "share", value: r => r.count, text: r => make("span", {}, barOf(r.count / d3.sum(reasons, q => q.count)), " " + percent(r.count / d3.sum(reasons, q => q.count)))},
      {title: "compiled in", value: r => r.ns, text: r => figure(r.ns, "ns"), kind: "number"}], reasons, {sort: 1, caption: "reasons"}));
    const list = table([
      {title: "unit", value: i => i.name, kind: "name"},
      {title: "place", value: i => i.at || "", kind: "name"},
      {title: "why it was compiled", value: i => i.note, kind: "wide"},
      {title: "compiled in", value: i => at(i, "wall_ns"), text: i => figure(at(i, "wall_ns"), "ns"), kind: "number"}], units, {sort: 3, limit: 25, caption: "compiled units"});
    if (units.length) host.append(make("h2", {}, "Compiled units"), make("div", {class: "tools"}, search("find a unit or a reason", word =>
      list.show(units.filter(i => `${i.name} ${i.at || ""} ${i.note}`.toLowerCase().includes(word))))), list);
  }});
})();
