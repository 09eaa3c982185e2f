// The requests of the first boot. A lost request is sent again: each of them may be repeated.

import * as api from "./api.js";
import { sleep } from "./link.js";

const AGAIN_MS = 1000;
const STATE_MS = 4000;
/** The limits for an answer: a search looks at each port; the other half answers at once. */
const WAITS_MS = { search: 180000, write: 180000, "try-printer": 30000, "try-reader": 60000, network: 60000, wifi: 90000 };
const USUAL_MS = 45000;
/** The refusals after which the same request is sent again. */
const AGAIN = ["busy", "root-down"];

export const readState = (sent) => api.get("/first-boot/state", { ms: STATE_MS, sent });

/**
 * Sends a request and returns its answer. `waits(true)` is called when the connection is lost, and `waits(false)` when
 * it is back; the request is then sent again. A refusal is thrown.
 */
export async function send(name, body, waits = () => {}) {
  for (;;) {
    try {
      const answer = await api.post(`/first-boot/${name}`, body, { ms: WAITS_MS[name] ?? USUAL_MS });
      waits(false);
      return answer;
    } catch (error) {
      if (error instanceof api.Problem && !AGAIN.includes(error.code)) {
        waits(false);
        throw error;
      }
      waits(true);
      await sleep(AGAIN_MS);
    }
  }
}

/**
 * Sends the answers to be written. `step` is called with each step of the writing. Returns `{done}`, `{faulty}` or
 * `{problem}`. Throws `Lost` if the connection broke before the end: it is then unknown what was written.
 */
export async function write(answers, step) {
  const limit = api.limited(null, WAITS_MS.write);
  try {
    const answer = await fetch("/first-boot/write", {
      method: "POST", cache: "no-store", signal: limit.signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(answers),
    });
    if (!answer.ok) throw new api.Problem(answer.status, await answer.json().catch(() => null), answer.headers.get("Retry-After"));
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const part = await reader.read();
      const lines = (rest + (part.value ?? "")).split("\n");
      rest = lines.pop();
      for (const line of lines.filter(Boolean)) {
        const said = outcome(line);
        if (said.progress) step(said.progress);
        else return said;
      }
      if (part.done) throw new api.Lost("the answer broke off");
    }
  } catch (error) {
    if (error instanceof api.Problem) throw error;
    throw new api.Lost(String(error));
  } finally {
    limit.end();
  }
}
/** Reads one line of the answer about the writing. */
export function outcome(line) {
  const said = JSON.parse(line);
  if (said === "done") return { done: true };
  if (said.refused !== undefined) {
    const code = typeof said.refused === "string" ? said.refused : Object.keys(said.refused)[0];
    return { problem: { code, detail: code } };
  }
  return said;
}
