// One transaction, from its begin to its outcome, without a connection and without a clock. `said` gets an answer, and
// returns what it means for the till. The rules are those of crates/till-api/src/follow.rs, and every client plays the
// same cases (follow-cases.json).
//
//  begin ──▶ begin ──▶ the state ──────▶ watch ────▶ show ─┐
//              ▲│                ▲       signature ─▶ sign ─┤
//    no answer ││                │       word ──▶ confirm ──┤
//              └┴─ PAUSE         └──────────────────────────┘

import type { Begin, Problem, Sale, State, Taken } from "./types.js";

/** The pause before the same question is repeated, in ms. */
export const PAUSE = 1000;
/** The longest time without an answer, in ms. The terminal may restart in this time. */
export const LONGEST_SILENCE = 30_000;

/** The refusals with a passing cause, which has nothing to do with the content of the request. */
const PASSING: readonly string[] = ["no-answer", "no-place", "timeout", "too-many-requests"];
/** The refusals that follow a search for the reference. They prove that no earlier request was carried out. */
const AFTER_THE_LOOK: readonly string[] = [
  "amount-differs", "busy", "supervisor-needed", "not-approved", "amount", "currency", "not-possible", "parameter",
  "not-ready",
];
/** The other known refusals with a status of 500 or more. A word of a later agent with such a status is a fault. */
const KNOWN_FAULTS: readonly string[] = ["gateway", "printer", "journal"];

export const isPassing = ({ code }: { code: string }) => PASSING.includes(code);
const followsTheLook = ({ code }: { code: string }) => AFTER_THE_LOOK.includes(code);
const isFault = ({ code }: { code: string }, status: number) =>
  status >= 500 && !isPassing({ code }) && !followsTheLook({ code }) && !KNOWN_FAULTS.includes(code);

/** The time since answers have been missing. */
export class Silence {
  #since: number | undefined;
  /** Returns whether the question may be asked again after no answer. */
  goesOn(now: number): boolean {
    this.#since ??= now;
    return now < this.#since + LONGEST_SILENCE;
  }
  ends() { this.#since = undefined; }
}

/** A question to the terminal. */
export type Ask =
  | { do: "begin"; begin: Begin } | { do: "show" } | { do: "cancel" }
  | { do: "sign"; accepted: boolean } | { do: "confirm"; taken: Taken };
/** The terminal's answer. */
export type Said =
  | { is: "sale"; sale: Sale } | { is: "cancelled"; inTime: boolean; sale: Sale }
  | { is: "refused"; status: number; problem: Pick<Problem, "code"> } | { is: "no-answer"; mayBeDone: boolean };
/** What the answer means. */
export type Heard =
  | { is: "stands"; sale: Sale }
  /** The reference belongs to another transaction, which existed before. */
  | { is: "was-there"; sale: Sale }
  | { is: "stopped"; inTime: boolean; sale: Sale }
  | { is: "next"; at: number; ask: Ask }
  /** The begin was refused and there is no transaction, or the till's confirmation was refused. */
  | { is: "refused" }
  /** No answer came for too long. */
  | { is: "silent"; mayStand: boolean };

/** The party that acts next: `recovery` is the agent, for days if necessary; `none` means that the outcome is there. */
export type NextActor = "agent" | "cashier" | "till" | "recovery" | "none";
const ACTORS: Record<string, NextActor> = {
  "awaiting-signature": "cashier", "awaiting-till": "till",
  unconfirmed: "recovery", "unconfirmed-finishing": "recovery", ended: "none",
};
/** Returns who acts next. A state that only a later agent knows is a sale that goes on. */
export const nextActor = (state: State): NextActor => (Object.hasOwn(ACTORS, state) && ACTORS[state]) || "agent";

/** A till's view of one transaction. */
export class Follower {
  readonly reference: string;
  #asked: Ask;
  #mayStand: boolean;
  #silence = new Silence();

  private constructor(reference: string, asked: Ask, mayStand: boolean) {
    this.reference = reference;
    this.#asked = asked;
    this.#mayStand = mayStand;
  }
  /** Begins a transaction. `again` is true if the till may have asked for it before. */
  static begin(begin: Begin, again = false) { return new Follower(begin.reference, { do: "begin", begin }, again); }
  /** Follows a transaction that exists at the terminal. */
  static of(reference: string) { return new Follower(reference, { do: "show" }, true); }

  /** The question that is open or due. */
  get ask(): Ask { return this.#asked; }
  /** Whether the transaction exists at the terminal, or may exist. */
  get mayStand(): boolean { return this.#mayStand; }
  get isBeginning(): boolean { return this.#asked.do === "begin"; }

  watch() { return this.#next({ do: "show" }); }
  cancel() { return this.#next({ do: "cancel" }); }
  sign(accepted: boolean) { return this.#next({ do: "sign", accepted }); }
  confirm(taken: Taken) { return this.#next({ do: "confirm", taken }); }

  #next(ask: Ask): Ask {
    this.#asked = ask;
    return ask;
  }

  /** Handles the answer to the question, or the missing answer. */
  said(said: Said, now: number): Heard {
    const asked = this.#asked.do;
    switch (said.is) {
      case "no-answer":
        this.#mayStand ||= said.mayBeDone;
        return this.#notAnswered(now, { is: "silent", mayStand: this.#mayStand });
      case "sale":
        if (asked === "begin" && said.sale.replayed && !this.#mayStand) return { is: "was-there", sale: said.sale };
        return this.#stands({ is: "stands", sale: said.sale });
      case "cancelled":
        return this.#stands({ is: "stopped", inTime: said.inTime, sale: said.sale });
    }
    if (asked === "begin" && this.#saysNothing(said)) {
      return this.#notAnswered(now, this.#mayStand ? { is: "silent", mayStand: true } : { is: "refused" });
    }
    // The confirmation did not arrive. Without it, the terminal would decide alone.
    if (asked === "confirm" && isPassing(said.problem)) return this.#notAnswered(now, { is: "refused" });
    if (asked === "begin" || asked === "confirm") return { is: "refused" };
    // The transaction can no longer be cancelled or signed, so the next question is its state.
    if (asked === "cancel") return { is: "next", at: now, ask: this.watch() };
    if (asked === "sign") return { is: "next", at: now + PAUSE, ask: this.watch() };
    return this.#notAnswered(now, { is: "silent", mayStand: this.#mayStand });
  }

  #stands(heard: Heard): Heard {
    this.#mayStand = true;
    this.#silence.ends();
    return heard;
  }
  #notAnswered(now: number, last: Heard): Heard {
    return this.#silence.goesOn(now) ? { is: "next", at: now + PAUSE, ask: this.#asked } : last;
  }
  /** Returns whether a refusal of the begin leaves open whether an earlier begin was carried out. */
  #saysNothing({ problem, status }: { problem: { code: string }; status: number }): boolean {
    return isFault(problem, status) || isPassing(problem) || (this.#mayStand && !followsTheLook(problem));
  }
}
