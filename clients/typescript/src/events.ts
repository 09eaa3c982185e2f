// Server-sent events: the parser, and a stream that continues after a lost connection.

import { BadStream, ProblemError, TerminalError } from "./errors.js";
import { isPassing } from "./follow.js";
import { isLost, limited, retryAfter, sleep } from "./transport.js";
import type { Progress } from "./types.js";

/** An event of the terminal. After `reset`, events may be missing: request the sales and the status again. */
export type TerminalEvent = { kind: "step"; id: string; step: string; data: Progress } | { kind: "reset"; id: string };

/** The longest line, and the most data of one event, in characters. */
const LONGEST = 1 << 20;
/** The terminal sends a comment each second. After this time without one, the connection counts as lost. */
const LONGEST_QUIET = 10_000;
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 30_000];

export interface ServerEvent { id: string; event: string; data: string }

/** Cuts a stream into events, wherever its parts are split. */
export class EventParser {
  /** The id of the last whole block, with or without an event. The rest of a cut block comes again after it. */
  id: string;
  #nextId: string;
  #decoder = new TextDecoder();
  #line = "";
  #afterReturn = false;
  #event = "";
  #data: string[] = [];
  #size = 0;

  constructor(id = "") { this.id = this.#nextId = id; }

  push(part: Uint8Array): ServerEvent[] {
    const found: ServerEvent[] = [];
    const text = this.#decoder.decode(part, { stream: true });
    if (text === "") return found;
    // The line feed of a split CR LF ends no second line.
    const lines = text.slice(this.#afterReturn && text.startsWith("\n") ? 1 : 0).split(/\r\n|\r|\n/);
    this.#afterReturn = text.endsWith("\r");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#take(this.#line + line, found);
      this.#line = "";
    }
    this.#line += rest;
    this.#bound(this.#line.length);
    return found;
  }

  #take(line: string, found: ServerEvent[]) {
    this.#bound(line.length);
    if (line === "") {
      this.id = this.#nextId;
      if (this.#data.length) found.push({ id: this.id, event: this.#event || "message", data: this.#data.join("\n") });
      [this.#event, this.#data, this.#size] = ["", [], 0];
      return;
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "id" && !value.includes("\0")) this.#nextId = value;
    if (field === "event") this.#event = value;
    if (field === "data") {
      this.#data.push(value);
      this.#bound(this.#size += value.length + 1);
    }
  }
  #bound(size: number) {
    if (size > LONGEST) throw new BadStream("a line of the event stream is too long");
  }
}

/** Opens the stream after an event; the signal ends it. */
export type Open = (after: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

/**
 * Listens until the signal ends, or the loop over it. A lost connection is opened again after the last event. Only a
 * refusal that does not pass is thrown, and a line that is too long.
 */
export async function* listen(open: Open, after = "", signal?: AbortSignal): AsyncGenerator<TerminalEvent, void> {
  let id = after;
  for (let tries = 0; !signal?.aborted; tries += 1) {
    const stream = limited(signal);
    const parser = new EventParser(id);
    let pause = 0;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    try {
      quiet = setTimeout(stream.stop, LONGEST_QUIET);
      for await (const part of await open(id, stream.signal)) {
        // The time in which the caller handles an event is not the terminal's silence.
        clearTimeout(quiet);
        tries = 0;
        for (const event of parser.push(part)) {
          const told = read(event);
          if (told) yield told;
          id = event.id;
        }
        id = parser.id;
        quiet = setTimeout(stream.stop, LONGEST_QUIET);
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!mayPass(error)) throw error;
      pause = retryAfter(error);
    } finally {
      clearTimeout(quiet);
      stream.stop();
      stream.end();
    }
    const backOff = Math.min(FIRST_PAUSE * 2 ** Math.min(tries, 6), LONGEST_PAUSE);
    // Many tills of a shop do not all come back at the same time.
    await sleep(Math.max(pause, backOff * (0.5 + Math.random() / 2)), signal);
  }
}

/** Returns whether the stream may be opened again. Errors of another type come from the connection. */
const mayPass = (error: unknown) => error instanceof ProblemError
  ? isPassing(error) || error.status === 429 || error.status >= 500
  : isLost(error) || !(error instanceof TerminalError);

/** Reads an event. Data that are no object are a later agent's, and are left out. */
function read({ id, event, data }: ServerEvent): TerminalEvent | undefined {
  if (event === "reset") return { kind: "reset", id };
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value !== "object" || value === null) return undefined;
    return { kind: "step", id, step: event, data: { till: "", reference: "", step: event, text: "", ...value } };
  } catch {
    return undefined;
  }
}
