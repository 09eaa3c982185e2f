// Sounds for the outcome, made by the browser without files; no two of them can be confused. A browser permits them
// after the first touch or key.

let context = null;
/** Enables sound; it is called at each touch or key. */
export function wake() {
  try {
    context ??= new AudioContext();
    if (context.state === "suspended") context.resume();
  } catch { /* a browser without sound: the screen shows everything too */ }
}

/** The notes: frequency in Hz, start and length in seconds. */
const TUNES = {
  approved: [[880, 0, 0.12], [1318.5, 0.13, 0.28]],
  declined: [[220, 0, 0.22], [174.6, 0.26, 0.4]],
  cancelled: [[440, 0, 0.12], [330, 0.14, 0.18]],
  attention: [[740, 0, 0.1], [740, 0.18, 0.1], [740, 0.36, 0.1]],
  card: [[988, 0, 0.09], [988, 0.16, 0.09]],
};

/** Plays a sound. The page also stores its name, for tests and for fault finding. */
export function play(name) {
  document.documentElement.dataset.sound = name;
  if (!context || context.state !== "running") return;
  for (const [frequency, start, length] of TUNES[name] ?? []) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const from = context.currentTime + start;
    tone.type = name === "declined" ? "square" : "triangle";
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.0001, from);
    volume.gain.exponentialRampToValueAtTime(0.25, from + 0.015);
    volume.gain.exponentialRampToValueAtTime(0.0001, from + length);
    tone.connect(volume).connect(context.destination);
    tone.start(from);
    tone.stop(from + length + 0.02);
  }
}
