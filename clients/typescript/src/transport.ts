// One request and its answer over a transport, with a deadline; and the repetition of a request that may be repeated.

import { NoAnswer, ProblemError, TerminalError } from "./errors.js";
import { isPassing, LONGEST_SILENCE, PAUSE, Silence } from "./follow.js";
import type { Problem } from "./types.js";

/** A request as a transport gets it. */
export interface Wanted {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}
export interface Answer {
  status: number;
  header(name: string): string | null | undefined;
  body: AsyncIterable<Uint8Array>;
}
/** Carries a request. It throws `NoAnswer` if none came. */
export type Transport = (wanted: Wanted) => Promise<Answer>;

/** A request of the client. */
export interface Call {
  method: "GET" | "POST";
  url: URL;
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** The time until the whole answer is there, in ms. */
  ms: number;
  signal?: AbortSignal | undefined;
}

const LONGEST_ANSWER = 16 << 20;

/** Adds the token and the body, and sends the request. Refusals are thrown as `ProblemError`. */
export async function send(transport: Transport, call: Call, signal: AbortSignal): Promise<Answer> {
  const { method, url, token, body, headers } = call;
  const answer = await transport({
    method, url: url.href, signal,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(method === "POST" && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(method === "POST" && { body: JSON.stringify(body ?? {}) }),
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw refusal(answer, await textOf(answer.body), method === "POST");
}

/** Sends a request and reads its answer as text. */
export async function ask(transport: Transport, call: Call): Promise<{ status: number; text: string }> {
  const limit = limited(call.signal, call.ms);
  try {
    const answer = await send(transport, call, limit.signal);
    return { status: answer.status, text: await textOf(answer.body) };
  } catch (error) {
    call.signal?.throwIfAborted();
    if (error instanceof TerminalError) throw error;
    throw new NoAnswer(`no answer from ${call.url.host}`, call.method === "POST", error);
  } finally {
    limit.end();
  }
}

/** Reads a JSON object. A half answer is no answer. */
export function objectOf<T extends object>(text: string, call: Pick<Call, "method">): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as T;
  } catch { /* handled below */ }
  throw new NoAnswer("the answer is unreadable", call.method === "POST");
}

function refusal(answer: Answer, text: string, mayBeDone: boolean): TerminalError {
  let problem: Partial<Problem> | null = null;
  try { problem = JSON.parse(text) as Partial<Problem> | null; } catch { /* handled below */ }
  const code = problem?.code;
  if (typeof code !== "string") return new NoAnswer(`the answer ${answer.status} is not the terminal's`, mayBeDone);
  const after = Number(problem?.retryAfterS ?? answer.header("retry-after") ?? NaN);
  const { status } = answer;
  const full: Problem = { type: "about:blank", title: "", detail: "", status, ...problem, code };
  const error = new ProblemError(status, full, after >= 0 ? after : undefined);
  return code === "no-answer" ? new NoAnswer(error.message, mayBeDone, error) : error;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.length > LONGEST_ANSWER) throw new RangeError("the answer is too long");
  }
  return text + decoder.decode();
}

/** Returns a signal that ends with `signal` or after `ms`, and `end()` for when the request is over. */
export function limited(signal: AbortSignal | undefined, ms?: number) {
  const both = new AbortController();
  const stop = () => both.abort();
  const timer = ms === undefined ? undefined : setTimeout(stop, ms);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  return { signal: both.signal, stop, end: () => { clearTimeout(timer); signal?.removeEventListener("abort", stop); } };
}

/** Waits, at most until the signal ends. */
export const sleep = (ms: number, signal?: AbortSignal) => new Promise<void>((done) => {
  const limit = limited(signal, Math.max(0, ms));
  const woken = () => { limit.end(); done(); };
  if (limit.signal.aborted) woken(); else limit.signal.addEventListener("abort", woken);
});

/** Returns the pause that a refusal asks for, in ms. */
export const retryAfter = (error: unknown): number =>
  error instanceof ProblemError ? Math.min((error.retryAfterS ?? 0) * 1000, LONGEST_SILENCE) : 0;

/** Repeats a request while its refusal is passing, and with `lost` also after no answer. */
export async function repeated<T>(once: () => Promise<T>, lost: boolean, signal?: AbortSignal): Promise<T> {
  const silence = new Silence();
  for (;;) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof ProblemError ? isWorthRepeating(error) : isLost(error) && lost)) throw error;
      if (!silence.goesOn(Date.now())) throw error;
      await sleep(Math.max(PAUSE, retryAfter(error)), signal);
      signal?.throwIfAborted();
    }
  }
}
/** A subclass of `NoAnswer` names a cause that does not pass. */
export const isLost = (error: unknown) => error instanceof NoAnswer && error.constructor === NoAnswer;
const isWorthRepeating = (error: ProblemError) => isPassing(error) ||
  ([429, 503].includes(error.status) && error.retryAfterS !== undefined && error.retryAfterS * 1000 <= LONGEST_SILENCE);
