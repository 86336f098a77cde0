/* What to do about a profile, as a roadmap: a column for each effort, the largest savings first. */
"use strict";
(() => {
  const COLUMNS = [["small", "Now"], ["medium", "Next"], ["large", "Later"]], CLASSES = {critical: "bad", high: "warn", medium: "", low: "note"};

  /* A file that was given, whose savings may be measured, stands for the rules' own list. */
  const listOf = (d, p) => (d.suggestions && d.suggestions.kind === p.kind ? d.suggestions : p.suggestions || {suggestions: []}).suggestions;
  const savingOf = s => s.saving === null ? "saving unknown" : s.saving_kind === "measured" ?
    `${s.saving < 0 ? "slower by" : "saves"} ${percent(Math.abs(s.saving))}, measured (${percent(s.low)} to ${percent(s.high)})` : `saves about ${percent(s.saving)}, estimated`;
  function card(s) {
    return make("article", {class: "suggestion"}, make("div", {}, make("b", {class: CLASSES[s.priority]}, s.priority), ` ${s.type}`),
      s.saving === null ? null : make("div", {class: "saving", title: savingOf(s)}, make("i", {style: `width: ${Math.max(0, Math.min(1, s.saving || 0)) * 100}%`})), make("div", {}, savingOf(s)),
      make("p", {}, make("b", {}, s.item), s.at ? make("span", {class: "note"}, " " + s.at) : null), make("p", {class: "note"}, s.evidence),
      make("p", {}, s.action, s.edit ? ": " : "", s.edit ? make("code", {}, s.edit) : null));
  }

  view({id: "suggestions", title: "Suggestions", when: d => d.profiles.some(e => listOf(d, e.profile).length), draw: (host, d) => {
    const p = profile(), all = listOf(d, p), types = [...new Set(all.map(s => s.type))].sort(), board = make("div", {class: "roadmap"});
    let type = "", word = "";
    function draw() {
      const shown = all.filter(s => (!type || s.type === type) && `${s.item} ${s.at || ""} ${s.evidence} ${s.action} ${s.rule}`.toLowerCase().includes(word));
      board.replaceChildren(...COLUMNS.map(([effort, title]) => {
        const list = shown.filter(s => s.effort === effort).sort((a, b) => (b.saving ?? -1) - (a.saving ?? -1));
        return make("section", {"aria-label": `${effort} effort`}, make("h2", {}, title, make("span", {class: "note"}, ` ${effort} effort, ${plural(list.length, "suggestion")}`)), ...list.map(card));
      }));
    }
    if (!all.length) return host.append(make("p", {class: "note"}, "No rule found anything to improve in this profile."));
    host.append(make("div", {class: "tools"}, chooser("type", [["", "all"], ...types.map(t => [t, t])], "", v => { type = v; draw(); }),
      search("find a suggestion", text => { word = text; draw(); }),
      all.some(s => s.saving_kind === "measured") ? null : make("span", {class: "note"}, "`trib profile suggest FILE --try --format json` measures savings; give its output to `trib profile html`, too.")), board);
    draw();
  }});
})();
