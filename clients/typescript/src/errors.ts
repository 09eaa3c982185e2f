// The errors of the client. Each one about a transaction names its reference. No error holds a token.

import type { Problem, ProblemCode, Sale } from "./types.js";

/** The common type of all errors of the client. */
export class TerminalError extends Error {
  /** The reference of the transaction that the till asked for. */
  reference?: string;
  override get name(): string { return this.constructor.name; }
}

/** The terminal answered and refused, so the request did nothing and charged nothing. */
export class ProblemError extends TerminalError {
  constructor(readonly status: number, readonly problem: Problem, readonly retryAfterS: number | undefined) {
    super(`${problem.code}: ${problem.detail ?? problem.title ?? ""}`);
  }
  get code(): ProblemCode { return this.problem.code; }
  get detail(): string { return this.problem.detail ?? ""; }
}

/** No readable answer came. `mayBeDone` is false if the request surely did not reach the terminal. */
export class NoAnswer extends TerminalError {
  constructor(message: string, readonly mayBeDone: boolean, cause?: unknown) { super(message, { cause }); }
}
/** The server has a certificate that the pinned CA did not sign. Nothing was sent to it. */
export class WrongCertificate extends NoAnswer {
  constructor(cause?: { code?: string | undefined }) {
    const why = cause?.code ? ` (${cause.code})` : "";
    super(`this is not the paired terminal, or its CA is new: compare fingerprints and pair again${why}`, false, cause);
  }
}
/** The browser does not let this page reach the terminal. Nothing was sent. */
export class LocalNetworkDenied extends NoAnswer {
  /** `setting` is the browser's name of the permission. */
  constructor(setting: "Local network" | "Apps on device" = "Local network") {
    super(`the browser blocks the terminal: allow "${setting}" in the site's settings, beside the address`, false);
  }
}

/** The terminal was silent for too long, and the transaction may exist. It is neither approved nor declined. */
export class OutcomeUnknown extends TerminalError {
  constructor(reference: string, cause?: unknown) {
    super(`the outcome of ${reference} is unknown: book nothing, and ask again with follow(reference), or with ` +
      "sell(request, { again: true }), which begins it if the terminal does not know it", { cause });
    this.reference = reference;
  }
}
/** The reference was used before this sale began, so it is another transaction's. Nothing was begun. */
export class ReferenceUsed extends TerminalError {
  constructor(readonly sale: Sale) {
    super(`the reference ${sale.reference} was used before: choose a new one for a new sale, or follow(reference)`);
    this.reference = sale.reference;
  }
}
/** The event stream has a line that is too long. */
export class BadStream extends TerminalError {}
/** The webhook is not the terminal's, or too old. */
export class WebhookError extends TerminalError {}
