// Returns the elements on the screen that are clipped, too small, overlapping or in need of scrolling. This script runs
// in the page as the body of a function.
const faults = [];
const dialog = document.querySelector("dialog[open]");
const visible = (e) => { const r = e.getBoundingClientRect(); return r.width > 2 && r.height > 2 && getComputedStyle(e).visibility !== "hidden" && !e.closest(".unseen, .skip, [hidden]") && (!dialog || dialog.contains(e)) && (!e.closest("details:not([open])") || e.tagName === "SUMMARY"); };
const name = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""}.${e.className?.baseVal ?? e.className} "${(e.innerText ?? "").slice(0, 30)}"`;
for (const e of document.querySelectorAll("button, input, select, textarea, h1, h2, p, span, strong, dd, td, th, output, pre")) {
  if (!visible(e)) continue;
  // A whole card is the target of the dot in it.
  const r = (e.closest("label.card") ?? e).getBoundingClientRect();
  if (/^(button|input|select|textarea)$/i.test(e.tagName) && (r.height < 43.5 || r.width < 43.5)) faults.push(`small target ${Math.round(r.width)}x${Math.round(r.height)} ${name(e)}`);
  if (r.right > innerWidth + 1 || r.left < -1) faults.push(`out of the screen ${name(e)}`);
  const size = parseFloat(getComputedStyle(e).fontSize);
  if (size < 11 && (e.innerText ?? "").trim()) faults.push(`small text ${size}px ${name(e)}`);
  const o = getComputedStyle(e).overflowX;
  if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && o !== "auto" && getComputedStyle(e).display !== "inline") faults.push(`clipped ${name(e)} ${e.scrollWidth}>${e.clientWidth}`);
}
// This finds text that extends beyond its box on either side, and on the keypad also above or below it.
for (const e of document.querySelectorAll("output, .display > *, .sum, button > span, h1, dd, td")) {
  const box = e.closest(".display, button, .panel, .act, aside, dl, td, header");
  if (!visible(e) || !box) continue;
  const all = document.createRange();
  all.selectNodeContents(e);
  const r = all.getBoundingClientRect(), b = box.getBoundingClientRect();
  if (r.left < b.left - 1 || r.right > b.right + 1 || (box.matches(".display") && (r.top < b.top - 1 || r.bottom > b.bottom + 1))) faults.push(`spills out ${name(e)} ${Math.round(r.width)}x${Math.round(r.height)}>${Math.round(b.width)}x${Math.round(b.height)}`);
}
for (const sel of ["#main", ".running .act", ".end .panel", "dialog"]) {
  const e = document.querySelector(sel);
  if (e && (sel !== "#main" || document.querySelector(".pay, .sale, .pin, .panel, .idle")) && e.scrollHeight > e.clientHeight + 1) faults.push(`scrolls ${sel} ${e.scrollHeight}>${e.clientHeight}`);
}
// A person must see at least one thing to do without scrolling.
const act = [...document.querySelectorAll("#main button, #main input, #main select, dialog[open] button, dialog[open] input")].find(visible);
if (act && act.getBoundingClientRect().bottom > innerHeight + 1) faults.push(`below the fold ${name(act)}`);
const parts = [...document.querySelectorAll("#main button, #main h1, #main .figure, #main .lines p, #main .ring, .stages, #main .sum")].filter(visible);
for (const a of parts) for (const c of parts) {
  if (a === c || a.contains(c) || c.contains(a) || a.compareDocumentPosition(c) & 2) continue;
  const x = a.getBoundingClientRect(), y = c.getBoundingClientRect();
  if (Math.min(x.right, y.right) - Math.max(x.left, y.left) > 2 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 2 && !a.closest("header")) faults.push(`overlap ${name(a)} and ${name(c)}`);
}
return faults;
