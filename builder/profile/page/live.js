/* A served page loads itself again when there is a newer build. The address keeps the open tab. */
"use strict";
addEventListener("DOMContentLoaded", () => {
  const ASK_MS = 600, state = make("span", {class: "note", role: "status"});
  async function ask() {
    try {
      const answer = await fetch("version", {cache: "no-store"}), version = await answer.text();
      if (answer.ok && version !== data.live) return location.reload();
      state.textContent = "live";
    } catch {
      state.textContent = "the server has ended";
    }
    setTimeout(ask, ASK_MS);
  }
  if (!data.live) return;
  document.querySelector("header").append(state);
  ask();
});
