// What must happen before the modules: the theme and the size of the first picture; and another load of the page if a
// module was lost on the way. A lost module stops all others, so this script is none.

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
setTimeout(() => { if (!document.body.dataset.loaded) location.reload(); }, 20000);
