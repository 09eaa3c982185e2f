// The first script of a document. It sets theme and size before the first picture, and sends the first requests while
// the rest of the document is on its way. If the end of the document does not come, it loads the page again.

(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = {};
  for (const name of ["theme", "size"]) { try { chosen[name] = localStorage.getItem(`pos.${name}`); } catch { /* private mode */ } }
  const draw = () => {
    const { dataset } = document.documentElement;
    dataset.theme = ["light", "dark"].includes(chosen.theme) ? chosen.theme : dark.matches ? "dark" : "light";
    dataset.size = chosen.size ?? "normal";
  };
  draw();
  dark.addEventListener("change", () => { draw(); dispatchEvent(new Event("relook")); });
  addEventListener("look", ({ detail }) => { Object.assign(chosen, detail); draw(); });
})();
/** The answers that the first screen waits for, by path. The document lists the paths; its script takes the answers. */
window.asked = {};
for (const path of document.documentElement.dataset.asks.split(" ")) {
  const limit = new AbortController();
  // The same limit as `SETTINGS_MS` of `api.js`; this script imports nothing.
  setTimeout(() => limit.abort(), 4000);
  window.asked[path] = fetch(path, { cache: "no-store", signal: limit.signal }).then(async (answer) => new Response(await answer.text(), answer));
  // Without a listener, the browser would report a lost answer twice.
  window.asked[path].catch(() => {});
}
setTimeout(() => { if (!document.body.dataset.loaded) location.reload(); }, 20000);
