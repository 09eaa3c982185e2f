// The requests to pos-front: answers as JSON, refusals as `Problem`, a lost connection as `Lost`.

/** A refusal: the request was answered and refused, and it charged nothing. */
export class Problem extends Error {
  constructor(status, body, retryAfterS) {
    super(String(body?.detail ?? ""));
    this.status = status;
    this.code = String(body?.code ?? (status === 404 ? "not-found" : `http-${status}`));
    this.retryAfterS = Number(body?.retryAfterS ?? retryAfterS) || null;
    this.body = body;
  }
}
/** No answer: it is unknown whether the request was received. */
export class Lost extends Error {}

/** The time in which a request that was not received is sent again automatically; afterwards a person decides. */
export const REPEAT_MS = 10000;
/** The problems after which the request may have been carried out, or could not be asked. */
export const PASSING = ["no-answer", "agent-down", "no-place", "timeout", "too-many-requests"];
/** The refusals with 5xx after which it is certain that no transaction was begun. */
const KNOWN_500 = ["not-ready", "printer", "journal", "gateway"];
/** Checks whether the request for a transaction may have begun it although it was refused. */
export const mayHaveBegun = ({ code, status }) => PASSING.includes(code) || (status >= 500 && !KNOWN_500.includes(code));

/**
 * The wait for an answer in seconds, by method and path; "" is for all others. The build writes the figures from the
 * table of the agent's routes.
 */
const WAITS = { /* @WAITS@ */ };

/** Returns the wait for an answer in ms. A value in place of `{…}` in a path may be any text. */
export function waitFor(method, path, waits = WAITS) {
  const asked = `${method} ${path.split("?")[0]}`;
  const found = Object.keys(waits).find((one) => new RegExp(`^${one.replace(/{\w+}/g, "[^/]+")}$`).test(asked));
  return waits[found ?? ""] * 1000;
}

/**
 * Returns a signal that ends with `signal` or after `ms`, and `end()` for when the request is over. Browsers of a few
 * years ago have no `AbortSignal.any`.
 */
export function limited(signal, ms) {
  const both = new AbortController();
  const stop = () => both.abort();
  const timer = ms ? setTimeout(stop, ms) : null;
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  return { signal: both.signal, end: () => { clearTimeout(timer); signal?.removeEventListener("abort", stop); } };
}

/** Sends a request; or takes the answer to `sent`, which is already on its way. */
export async function ask(method, path, { body, ms = waitFor(method, path), signal, headers, text, sent } = {}) {
  const limit = limited(signal, ms);
  const request = {
    method, cache: "no-store", signal: limit.signal,
    headers: { ...(method === "GET" ? {} : { "Content-Type": "application/json" }), ...headers },
    body: method === "POST" ? JSON.stringify(body ?? {}) : undefined,
  };
  let answer, said;
  try {
    answer = await (sent ?? fetch(path, request));
    said = await answer.text();
  } catch (error) {
    throw new Lost(String(error));
  } finally {
    limit.end();
  }
  let json = null;
  try { json = JSON.parse(said); } catch { /* handled below */ }
  if (!answer.ok) throw new Problem(answer.status, json, answer.headers.get("Retry-After"));
  if (text) return said;
  if (said && json === null) throw new Lost("half an answer");
  return json;
}
/** The limit for a request of the settings or the session. */
export const SETTINGS_MS = 4000;
export const get = (path, how) => ask("GET", path, how);
export const post = (path, body, how) => ask("POST", path, { ...how, body });

/** True when the page is in training mode. Then its requests are about training, which has its own references. */
let trains = false;
export const train = (on) => { trains = on; };
/** Returns a path about transactions, in the list that the page uses. */
export const ofSales = (rest) => `/v1/sales${rest}${trains ? `${rest.includes("?") ? "&" : "?"}training=true` : ""}`;
/** Returns the path of one transaction. `till` is for another till, which has its own references. */
const one = (reference, rest = "", till = null) =>
  ofSales(`/${encodeURIComponent(reference)}${rest}${till ? `${rest.includes("?") ? "&" : "?"}till=${encodeURIComponent(till)}` : ""}`);
export const sale = (reference, till) => get(one(reference, "", till));
export const cancel = (reference, till) => post(one(reference, "/cancel", till), {});
export const sign = (reference, till, accepted) => post(one(reference, "/signature", till), { accepted });
export const confirm = (reference, till, taken) => post(one(reference, "/confirm", till), { taken });
export const receipt = ({ reference, till }, copy) => get(one(reference, `/receipt?copy=${copy}`, till), { text: true, headers: { Accept: "text/plain" } });
/** Returns a close of day as it is printed, or as a table. */
export const close = (which, form = "text/plain") => get(`/v1/closes/${which}`, { text: true, headers: { Accept: form } });
export const print = ({ reference, till }, copy) => post(one(reference, `/receipt?copy=${copy}`, till), {});
/** Returns the QR code with the address of a transaction; the agent supplies the address. */
export const code = ({ reference, till }) => get(one(reference, "", till).replace("/v1/sales/", "/front/qr/"));

/** The id of the last event; the next stream continues after it. */
let lastId = "";
/**
 * Listens to a stream of events until `signal`. Calls `on.open()` when all later events will be received, and
 * `on.event(data)` for each event of any name. Ends by throwing `Lost` or `Problem`. EventSource is not used: it
 * ignores event names that it does not know.
 */
async function stream(path, after, on, signal, token = null) {
  let answer;
  try {
    const headers = { Accept: "text/event-stream", ...(after && { "Last-Event-ID": after }), ...(token && { Authorization: `Bearer ${token}` }) };
    answer = await fetch(path, { cache: "no-store", signal, headers });
  } catch (error) {
    throw new Lost(String(error));
  }
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => null));
  on.open();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let part;
    try { part = await reader.read(); } catch (error) { throw new Lost(String(error)); }
    if (part.done) throw new Lost("the stream ended");
    const blocks = (rest + part.value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    blocks.map(read).filter(Boolean).forEach(on.event);
  }
}
/** Streams the events of transactions and of parts of the terminal. */
export const listen = (on, signal) => stream("/v1/events", lastId, on, signal);
/** Streams to the customer's screen what a customer may see; `anew` from the present state on. */
export const listenAsCustomer = (token, anew, on, signal) => stream("/front/customer", anew ? "" : lastId, on, signal, token);
/** Streams the tills that wait to be paired and the time left for further tills: immediately, and at each change. */
export const pairing = (event, signal) => stream("/front/events", "", { open() {}, event }, signal);

/** Reads one event of the stream; null for a comment or an unreadable event. */
export function read(block) {
  const lines = block.split(/\r?\n/);
  const field = (name) => lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ""));
  const data = field("data").join("\n");
  lastId = field("id")[0] ?? lastId;
  if (!data) return null;
  try {
    return { step: field("event")[0], ...JSON.parse(data) };
  } catch {
    return null;
  }
}
