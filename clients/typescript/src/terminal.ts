// The terminal, as a till uses it. The path of a sale: `sell` makes the reference, `#follow` asks the follower's
// questions one after the other, and `#say` carries one question to the terminal and its answer back.

import { fetchTransport } from "./browser.js";
import { NoAnswer, OutcomeUnknown, ProblemError, ReferenceUsed, TerminalError } from "./errors.js";
import { listen, type TerminalEvent } from "./events.js";
import { type Ask, Follower, isPassing, type NextActor, nextActor, PAUSE, type Said } from "./follow.js";
import { ask, type Call, isLost, objectOf, repeated, retryAfter, send, sleep, type Transport } from "./transport.js";
import type {
  Begin, Cancelled, Close, Problem, Progress, Receipt, Sale, SaleRequest, SalesFilters, Status, Taken,
} from "./types.js";

export interface TerminalOptions {
  /** The address of the front or of the agent, such as `https://kasse.local:8443`. */
  url: string | URL;
  token: string;
  transport?: Transport;
  /** The till's own cashier, for every sale that names none. */
  operator?: string;
}
export interface SellOptions {
  /** Gets the reference before the first request. Store it: it finds the sale again after a crash of the till. */
  onReference?: (reference: string) => void | Promise<void>;
  /** Gets each step for the cashier's screen. Its errors are ignored. */
  onStep?: (step: Progress) => void;
  /** Judges the signature. Without it, a person judges it at the terminal's own page. */
  onSignature?: (sale: Sale) => boolean | Promise<boolean>;
  /** Says how much of the approval the till takes; after a refused answer, it gets the problem and is asked again. */
  onConfirm?: (sale: Sale, refused?: Problem) => Taken | Promise<Taken>;
  /** Cancels the sale at the terminal. The result is still its real outcome. */
  signal?: AbortSignal;
  /** True if this reference may have been sent before, for example before a crash of the till. */
  again?: boolean;
  /** The address that gets the events of this transaction by webhook. The terminal must permit it. */
  callback?: string | URL;
}
/** One transaction to be shown. `waitS` waits for its outcome, or for a person's turn. */
export interface ShowOptions {
  waitS?: number | undefined;
  training?: boolean | undefined;
  signal?: AbortSignal | undefined;
}
interface Reading {
  query?: object;
  body?: unknown;
  headers?: Record<string, string>;
  ms?: number;
  /** Whether the request is repeated after a lost answer. */
  lost?: boolean;
  signal?: AbortSignal | undefined;
}
type Training = { training?: boolean };

/** The wait of each question about the state, in seconds. */
const WAIT_S = 10;
/** The deadlines of answers in ms: of a question that `sell` repeats anyway, and of the others by the manual. */
const [SOON, WAITING, USUAL, PRINTING, CLOSING, TYPING] = [15_000, 25_000, 35_000, 85_000, 145_000, 685_000];

export class Terminal {
  readonly url: string;
  readonly #base: URL;
  readonly #token: string;
  readonly #transport: Transport;
  readonly #operator: string | undefined;

  constructor({ url, token, transport = fetchTransport(), operator }: TerminalOptions) {
    // A header with another character would be quoted in the platform's own error.
    if (!/^[!-~]+$/.test(token)) throw new TypeError("the token must be visible ASCII characters");
    this.#base = addressOf(url);
    this.url = this.#base.href;
    this.#token = token;
    this.#transport = transport;
    this.#operator = operator;
  }

  /** Charges a card, and returns the transaction with its outcome, or still without one if it is `unconfirmed`. */
  async sell(request: SaleRequest, options: SellOptions = {}): Promise<Sale> {
    const reference = request.reference ?? newReference();
    const begin = this.#complete({ ...request, reference });
    if (begin.confirm && !options.onConfirm) throw new TypeError("a sale with `confirm` needs onConfirm");
    options.signal?.throwIfAborted();
    await options.onReference?.(reference);
    return this.#follow(Follower.begin(begin, options.again), options, begin.training != null);
  }
  /** Follows a transaction to its outcome. A reference that the terminal does not know is refused (`no-such-sale`). */
  async follow(reference: string, options: Omit<SellOptions, "again" | "callback"> & { training?: boolean } = {}): Promise<Sale> {
    await this.show(reference, { training: options.training });
    return this.#follow(Follower.of(reference), options, options.training);
  }
  /** Pays back all or part of an earlier payment. */
  refund(of: string, request: SaleRequest = {}, options?: SellOptions) {
    return this.sell({ ...request, kind: "refund", of }, options);
  }
  /** Reverses an earlier transaction. */
  reverse(of: string, request: SaleRequest = {}, options?: SellOptions) {
    return this.sell({ ...request, kind: "reversal", of }, options);
  }
  /** Charges all or part of a pre-authorisation. */
  capture(of: string, request: SaleRequest = {}, options?: SellOptions) {
    return this.sell({ ...request, kind: "capture", of }, options);
  }

  async #follow(follower: Follower, options: SellOptions, training = false): Promise<Sale> {
    const { signal, onStep } = options;
    const { reference } = follower;
    const over = new AbortController();
    if (onStep) void this.#tell(reference, onStep, over.signal).catch(() => {});
    let question: Ask = follower.ask;
    let cancelled = false;
    let actor: NextActor | undefined;
    let accepted: boolean | undefined;
    let refused: Problem | undefined;
    // The abort ends only one wait. A begin without an answer is still asked for in its own time.
    const waking = () => cancelled || signal?.aborted ? undefined : signal;
    try {
      for (;;) {
        if (signal?.aborted && !cancelled) {
          if (!follower.mayStand) signal.throwIfAborted();
          if (!follower.isBeginning) [cancelled, question] = [true, follower.cancel()];
        }
        const asked = Date.now();
        const { said, error } = await this.#say(reference, question, { training, callback: options.callback, signal: waking() });
        if (!said) continue;
        if (error instanceof NoAnswer && !isLost(error) && !follower.mayStand) throw error;
        const wasBegin = follower.isBeginning;
        const heard = follower.said(said, Date.now());
        switch (heard.is) {
          case "was-there":
            throw new ReferenceUsed(heard.sale);
          case "silent":
            throw heard.mayStand ? new OutcomeUnknown(reference, error) : error;
          case "refused":
            if (wasBegin || !(error instanceof ProblemError)) throw error;
            if (isPassing(error)) throw new OutcomeUnknown(reference, error);
            refused = error.problem;
            question = follower.watch();
            continue;
          case "next":
            await sleep(Math.max(heard.at - Date.now(), retryAfter(error)), waking());
            question = heard.ask;
            continue;
        }
        const { sale } = heard;
        const before = actor;
        actor = nextActor(sale.state);
        if (actor === "none" || actor === "recovery") return sale;
        // A terminal that answers immediately, although nothing has changed, is not asked without a pause.
        if (actor === before) await sleep(asked + PAUSE - Date.now(), waking());
        if (actor === "cashier" && options.onSignature) {
          accepted ??= await options.onSignature(sale);
          question = follower.sign(accepted);
        } else if (actor === "till" && options.onConfirm) {
          const taken = await options.onConfirm(sale, refused);
          if (taken.taken === "part") checkAmount("amount", taken.amount);
          question = follower.confirm(taken);
        } else question = follower.watch();
      }
    } catch (error) {
      if (error instanceof TerminalError) error.reference = reference;
      throw error;
    } finally {
      over.abort();
    }
  }

  /** Asks one question. A question about the state ends with the signal, without an answer. */
  async #say(reference: string, question: Ask, { training, callback, signal }: Saying): Promise<Answered> {
    const how = { query: { training: training || undefined }, ms: SOON };
    const post = (what: string, body?: object) => this.#sale("POST", one(reference, what), { ...how, body });
    try {
      if (question.do === "cancel") {
        const sale = await post("cancel") as Cancelled;
        return { said: { is: "cancelled", inTime: sale.cancel === "in-time", sale } };
      }
      const sale = await (
        question.do === "begin" ? this.#sale("POST", "", { body: question.begin, headers: naming(callback), ms: SOON })
        : question.do === "sign" ? post("signature", { accepted: question.accepted })
        : question.do === "confirm" ? post("confirm", question.taken)
        : this.#shown(reference, { waitS: WAIT_S, training, signal }, SOON));
      return { said: { is: "sale", sale } };
    } catch (error) {
      if (error instanceof ProblemError) {
        return { said: { is: "refused", status: error.status, problem: error.problem }, error };
      }
      if (error instanceof NoAnswer) return { said: { is: "no-answer", mayBeDone: error.mayBeDone }, error };
      if (signal?.aborted) return {};
      throw error;
    }
  }

  async #tell(reference: string, onStep: (step: Progress) => void, signal: AbortSignal) {
    for await (const event of this.events({ signal })) {
      if (event.kind === "step" && event.data.reference === reference) onStep(event.data);
    }
  }

  /* ---- single requests ---- */

  /** Begins a transaction, or returns its state if the reference is known. `sell` also follows it. */
  begin(request: Begin, { callback }: Pick<SellOptions, "callback"> = {}): Promise<Sale> {
    const body = this.#complete(request);
    return repeated(() => this.#sale("POST", "", { body, headers: naming(callback) }), false);
  }
  show(reference: string, how: ShowOptions = {}): Promise<Sale> {
    return repeated(() => this.#shown(reference, how, how.waitS ? WAITING : USUAL), true, how.signal);
  }
  cancel(reference: string, query: Training = {}): Promise<Cancelled> {
    return repeated(() => this.#sale("POST", one(reference, "cancel"), { query }) as Promise<Cancelled>, true);
  }
  signature(reference: string, accepted: boolean, query: Training = {}): Promise<Sale> {
    return repeated(() => this.#sale("POST", one(reference, "signature"), { query, body: { accepted } }), true);
  }
  confirm(reference: string, taken: Taken, query: Training = {}): Promise<Sale> {
    if (taken.taken === "part") checkAmount("amount", taken.amount);
    return repeated(() => this.#sale("POST", one(reference, "confirm"), { query, body: taken }), true);
  }
  status(): Promise<Status> { return this.#get("/v1/status"); }
  /** The latest transaction of the till. */
  latest(query: Training = {}): Promise<Sale> { return this.#get("/v1/latest", { query }); }
  sales(filters: SalesFilters = {}): AsyncGenerator<Sale, void, undefined> {
    return this.#pages("/v1/sales", "sales", filters);
  }

  receipt(reference: string, how: { as: "text" } & Copies): Promise<string>;
  receipt(reference: string, how?: { as?: "json" } & Copies): Promise<Receipt>;
  async receipt(reference: string, how: { as?: "text" | "json" } & Copies = {}): Promise<string | Receipt> {
    const { as = "json", ...query } = how;
    const path = `/v1/sales${one(reference, "receipt")}`;
    if (as === "json") return this.#get<Receipt>(path, { query });
    return this.#text("GET", path, { query, headers: { Accept: "text/plain" } });
  }
  /** Prints a receipt; a second print is marked as a duplicate. */
  async printReceipt(reference: string, query: Pick<Copies, "copy" | "training"> = {}): Promise<void> {
    await this.#text("POST", `/v1/sales${one(reference, "receipt")}`, { query, lost: false, ms: PRINTING });
  }

  closes(): AsyncGenerator<Close, void, undefined> { return this.#pages("/v1/closes", "closes", {}); }
  /** A close of day: its number, `last`, or `open` for the next one. */
  closeOf(which: number | "last" | "open"): Promise<Close> {
    return this.#get(`/v1/closes/${which}`, { ms: CLOSING });
  }
  /** Closes the day. The same reference returns the same close. */
  close(body: { reference?: string; print?: boolean } = {}): Promise<Close> {
    const reference = body.reference ?? newReference();
    return this.#json("POST", "/v1/closes", { body: { ...body, reference }, ms: CLOSING });
  }
  /** Prints the till's own lines, which are not a receipt of the terminal. */
  async printLines(lines: readonly object[]): Promise<void> {
    await this.#text("POST", "/v1/printer/lines", { body: { lines }, lost: false, ms: PRINTING });
  }
  /** Shows the till's text to the customer between sales. */
  async showText(text: string): Promise<void> {
    await this.#text("POST", "/v1/reader/text", { body: { text } });
  }
  /** Asks for an amount at the reader; this begins no transaction. */
  typeAmount(currency: string): Promise<{ amount: string; currency?: string }> {
    return this.#json("POST", "/v1/reader/amount", { body: { currency }, lost: false, ms: TYPING });
  }

  /** Listens to each step of the till's transactions and of the terminal, after the event `after`. */
  events({ after, signal }: { after?: string; signal?: AbortSignal } = {}): AsyncGenerator<TerminalEvent, void> {
    const open = async (id: string, until: AbortSignal) => {
      const headers = { Accept: "text/event-stream", ...(id !== "" && { "Last-Event-ID": id }) };
      return (await send(this.#transport, this.#call("GET", "/v1/events", { headers }), until)).body;
    };
    return listen(open, after, signal);
  }

  /* ---- the ways to the terminal ---- */

  /** Adds the till's cashier, and refuses amounts that are no texts. */
  #complete(request: Begin): Begin {
    checkAmounts(request);
    return this.#operator === undefined ? request : { operator: this.#operator, ...request };
  }
  async #sale(method: Call["method"], path: string, how: Reading): Promise<Sale> {
    const call = this.#call(method, `/v1/sales${path}`, how);
    const sale = objectOf<Sale>((await ask(this.#transport, call)).text, call);
    // Without a state, this is some other server's answer.
    if (typeof sale.state !== "string") throw new NoAnswer("the answer is no transaction", method === "POST");
    return sale;
  }
  #shown(reference: string, { waitS, training, signal }: ShowOptions, ms: number): Promise<Sale> {
    const query = { "wait-s": waitS, training: training || undefined };
    return this.#sale("GET", one(reference), { query, signal, ms: ms + (waitS ?? 0) * 1000 });
  }
  #get<T extends object>(path: string, how?: Reading): Promise<T> { return this.#json("GET", path, how); }
  #json<T extends object>(method: Call["method"], path: string, how: Reading = {}): Promise<T> {
    const call = this.#call(method, path, how);
    return repeated(async () => objectOf<T>((await ask(this.#transport, call)).text, call), how.lost ?? true);
  }
  #text(method: Call["method"], path: string, how: Reading): Promise<string> {
    return repeated(async () => (await ask(this.#transport, this.#call(method, path, how))).text, how.lost ?? true);
  }
  async *#pages<T extends object>(path: string, name: string, filters: object): AsyncGenerator<T, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: Record<string, unknown> = await this.#get(path, { query: { ...filters, cursor } });
      yield* (page[name] as T[] | undefined) ?? [];
      cursor = page["next"] as string | undefined;
    } while (cursor !== undefined);
  }
  #call(method: Call["method"], path: string, how: Reading): Call {
    const { query = {}, body, headers, ms = USUAL, signal } = how;
    const url = new URL(path.replace(/^\//, ""), this.#base);
    for (const [name, value] of Object.entries(query)) if (value != null) url.searchParams.set(name, String(value));
    return { method, url, token: this.#token, body, headers: { Accept: "application/json", ...headers }, ms, signal };
  }
}

/** Returns a random reference. `randomUUID` is missing in a page without TLS. */
const newReference = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the header that names the address for the events of a transaction. */
const naming = (callback: string | URL | undefined): Record<string, string> =>
  callback === undefined ? {} : { "Pos-Callback": String(callback) };

interface Saying { training: boolean; callback?: string | URL | undefined; signal?: AbortSignal | undefined }
interface Answered { said?: Said; error?: unknown }
/** How a receipt is read. `width` is the number of characters per line. */
export interface Copies { copy?: "customer" | "merchant"; width?: number; duplicate?: boolean; training?: boolean }

const one = (reference: string, what?: string) => `/${encodeURIComponent(reference)}${what ? `/${what}` : ""}`;

/** Checks the terminal's address. Only a program on the same machine is reached without TLS. */
export function addressOf(url: string | URL): URL {
  const base = new URL(url);
  const isLoopback = /^(localhost|127\.[\d.]+|\[::1\])$/.test(base.hostname);
  if (base.username || base.password) throw new TypeError("the address must not contain a password");
  if (base.protocol !== "https:" && !(base.protocol === "http:" && isLoopback)) {
    throw new TypeError("the address must begin with https://");
  }
  return new URL(base.pathname.endsWith("/") ? base.pathname : `${base.pathname}/`, base);
}

function checkAmounts({ amount, tip }: Pick<Begin, "amount" | "tip">) {
  if (amount !== undefined) checkAmount("amount", amount);
  if (tip != null && tip !== "ask") checkAmount("tip", tip);
}
/** A number has lost its exact cents before it arrives here, so only texts are amounts. */
function checkAmount(name: string, amount: unknown) {
  if (typeof amount === "string" && /^\d+(\.\d+)?$/.test(amount)) return;
  throw new TypeError(`${name} must be a text such as "12.34"`);
}
