// The shop's own colour and logo, from the front's configuration; the font.

import { h } from "./dom.js";

/** The least contrast of text (WCAG 2.2, 1.4.3). */
const CONTRAST = 4.5;

const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
/** Returns the relative luminance of a colour such as `#0a4d8c`. */
function luminance(colour) {
  const [red, green, blue] = parts(colour).map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
const mixed = (colour, other, share) => `#${parts(colour).map((part, n) => Math.round(part + (parts(other)[n] - part) * share).toString(16).padStart(2, "0")).join("")}`;

/**
 * Returns the shop's colour for cards of this colour, with the colour of text on it. It is made lighter or darker until
 * it can be read on a card.
 */
export function accentFor(colour, card) {
  const to = luminance(card) < 0.2 ? "#ffffff" : "#000000";
  let accent = colour;
  for (let share = 0.1; contrast(accent, card) < CONTRAST; share += 0.1) accent = mixed(colour, to, share);
  const ink = ["#ffffff", "#06203c"].sort((a, b) => contrast(b, accent) - contrast(a, accent))[0];
  return { accent, ink };
}

/** Shows the shop's colour; without one, those of the style sheet. */
export function showAccent(colour) {
  const { style } = document.documentElement;
  if (!colour) { style.removeProperty("--accent"); style.removeProperty("--accent-ink"); return; }
  const { accent, ink } = accentFor(colour, getComputedStyle(document.documentElement).getPropertyValue("--card").trim());
  style.setProperty("--accent", accent);
  style.setProperty("--accent-ink", ink);
}

/** Builds the shop's logo, if there is one. */
export function logo(exists) {
  return exists ? h("img", { src: "/front/logo", alt: "" }) : null;
}

/** Loads the font after all parts that are more important. The page is then complete. */
export async function loadFont() {
  try {
    document.fonts.add(await new FontFace("Counter", "url(/assets/counter.woff2)", { weight: "400 700" }).load());
  } catch { /* the browser's own font stays */ }
  document.body.dataset.complete = "true";
}
