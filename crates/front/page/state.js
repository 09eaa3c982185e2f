// The transaction in hand: an event goes in, the next state and its effects come out. No DOM, no network, no clock.
// This file implements the rules about money in README.md.

import { mayHaveBegun, REPEAT_MS } from "./api.js";
import { EMPTY, isDraft } from "./draft.js";

export const RETRY_MS = 700;

/** The kinds for which the customer's card is read. */
export const NEEDS_CARD = ["sale", "pre-authorisation", "credit", "store-card"];
/** The number of this page's references that are remembered as its own. */
const OWN = 50;

export const isUnconfirmed = (sale) => sale?.state === "unconfirmed" || sale?.state === "unconfirmed-finishing";
/**
 * Checks whether a transaction is neither ended nor unconfirmed. A state of a later agent version counts as running.
 */
export const isRunning = (sale) => !!sale && sale.state !== "ended" && !isUnconfirmed(sale);
/** Checks whether the terminal works on this job, or may work on it. */
export const isUnderWay = (job) => !!job && (job.phase === "asking" || (job.phase === "known" && isRunning(job.sale)));

/**
 * Checks whether another till's transaction may replace the screen. A refusal, a partial approval, or another state
 * that a person must read or decide stays until it is closed.
 */
export const mayBeReplaced = (job) => !job || (!isUnderWay(job) && (!job.mine || screenOf(job) === "approved"));
/**
 * Checks whether the same transaction may begin again. Either the shop has no money from it, or a card payment is being
 * reversed. The bank must not have forbidden another try.
 */
export function mayTryAgain(job) {
  if (!job?.mine || !job.request || job.phase !== "known") return false;
  const { sale } = job;
  if (sale.reason === "do-not-try-again") return false;
  if (sale.state === "unconfirmed") return !sale.needsPerson && NEEDS_CARD.includes(sale.kind);
  return sale.state === "ended" && ["declined", "cancelled", "not-sent", "reversed"].includes(sale.outcome);
}
/** Returns the till and operator of a transaction that this page has not begun; null for its own. */
export function whose(state, sale) {
  if (!sale || state.own.includes(sale.reference)) return null;
  return { till: sale.till, operator: sale.by?.operator ?? sale.by?.statedOperator ?? null };
}

/** The screens of outcomes that need no further action. */
export const CLOSABLE = ["approved", "declined", "cancelled", "not-sent", "reversed"];
/** Checks whether the connection to the terminal is lost, so everything on the screen is old. */
export const isLost = (link) => link === "lost" || link === "agent-down";

/**
 * Returns the state at the page's start. `memory` is the data of an earlier page: `{reference, request, draft,
 * begunAt}`. `typed` is the draft on its keypad.
 */
export function begin(memory, typed = null) {
  const draft = isDraft(typed) ? typed : EMPTY;
  const state = { link: "connecting", job: null, draft, own: [], open: [], notices: [], status: null };
  if (!memory?.reference || !memory.request) return state;
  const job = newJob(memory.reference, memory.request, memory.draft, memory.begunAt ?? 0);
  return { ...state, own: [memory.reference], job: { ...job, restored: true } };
}

function newJob(reference, request, draft, now) {
  return {
    reference, request, draft: draft ?? null, begunAt: now, mine: true, restored: false, phase: "asking", posts: 0, posting: false,
    sale: null, fresh: false, seenAt: null, heard: 0, step: null, cancel: null, judged: null, problem: null, since: null, wait: null,
  };
}

export function screenOf(job) {
  if (!job) return "none";
  if (job.phase !== "known") return job.phase; // asking, not-begun, refused
  const { sale } = job;
  switch (sale.state) {
    case "waiting-for-card": return "card";
    case "in-progress": return "bank";
    case "awaiting-signature": return "signature";
    case "awaiting-till": return "confirm";
    case "unconfirmed": return sale.needsPerson ? "needs-person" : "unconfirmed";
    case "unconfirmed-finishing": return sale.needsPerson ? "needs-person" : "finishing";
    case "ended": return sale.outcome === "partially-approved" ? "partial" : sale.outcome;
    default: return "bank"; // a state of a later agent version: the transaction is in progress
  }
}

export const mayCancel = (job) => ["card", "bank"].includes(screenOf(job)) && job.cancel !== "asked";

/**
 * Returns the wait that the cashier sees: its start and end, in milliseconds as `tick` has them. `until` is null when
 * the end is unknown. The time left counts from the arrival of the answer, so no clock of the terminal is compared.
 */
export function waitOf(job) {
  if (!job?.sale) return null;
  const { sale, step, wait, since } = job;
  if (!isUnderWay(job)) return isUnconfirmed(sale) ? { since, until: null } : null;
  if (PERSON_ACTS.includes(step?.word)) return { since: step.at, until: null };
  return wait ?? { since: step?.wait ?? since, until: null };
}
/** The steps that wait for the customer or the reader. The reader decides how long they may take. */
const PERSON_ACTS = [
  "choosing-tip", "remove-card", "reading-card", "pin-entry", "pin-wrong", "choosing-application", "type-card",
];

/** Handles one event. Returns `[state, effects]`. */
export function reduce(state, event) {
  const handle = HANDLERS[event.type] ?? (same(state, event) && OF_JOB[event.type]);
  return handle ? handle(state, event) : [state, []];
}

/** Checks whether an event is about the job. Another till's transaction with the same reference is a different one. */
function same(state, event) {
  if (!state.job || state.job.reference !== event.reference) return false;
  const [ours, theirs] = [state.job.sale?.till, event.till ?? event.sale?.till];
  return !ours || !theirs || ours === theirs;
}
const withJob = (state, change) => ({ ...state, job: { ...state.job, ...change } });
/** Addresses an effect to the job; for another till's job it names the till. */
const about = (job, effect) => ({ ...effect, reference: job.reference, ...(!job.mine && job.sale?.till && { till: job.sale.till }) });
const fetchOf = (state) => about(state.job, { do: "fetch", heard: state.job.heard });

const HANDLERS = {
  start(state, { reference, request, draft = null, now }) {
    if (isUnderWay(state.job)) return [state, []];
    const before = leave(state);
    const job = { ...newJob(reference, request, draft, now), posts: 1, posting: true };
    const remember = { do: "remember", memory: { reference, request, draft, begunAt: now } };
    const own = [...state.own.slice(1 - OWN), reference];
    return [{ ...before, job, own, draft: EMPTY }, [remember, { do: "post", reference, request }]];
  },
  /** Begins exactly the same transaction again as a new one; a supervisor is asked again. */
  "try-again"(state, { reference, now }) {
    if (!mayTryAgain(state.job)) return [state, []];
    const { request, draft } = state.job;
    return HANDLERS.start(state, { reference, request, draft, now });
  },
  /** Changes the cashier's draft. */
  draft(state, { change }) {
    return [{ ...state, draft: { ...state.draft, ...change } }, []];
  },
  /** Makes room for a draft: that of a refused request, or the rest after a partial approval. */
  prepare(state, { draft }) {
    const [left, effects] = HANDLERS.leave(state);
    return left.job ? [state, []] : [{ ...left, draft: { ...EMPTY, ...draft } }, effects];
  },
  /** Sends a request that was never received, under the same reference, after a person has decided so. */
  "start-again"(state, { now }) {
    if (state.job?.phase !== "not-begun") return [state, []];
    const { reference, request } = state.job;
    const job = { ...state.job, phase: "asking", posting: true, begunAt: now, posts: state.job.posts + 1, restored: false };
    return [{ ...state, job }, [{ do: "post", reference, request }]];
  },
  /** Sends the same request again with a supervisor's approval. */
  "start-approved"(state, { approval, now }) {
    if (state.job?.phase !== "refused") return [state, []];
    const { reference, request } = state.job;
    const job = { ...state.job, phase: "asking", posting: true, begunAt: now, problem: null, posts: state.job.posts + 1 };
    return [{ ...state, job }, [{ do: "post", reference, request, approval }]];
  },
  fetched(state, event) {
    if (!same(state, event)) return rememberOpen(state, event.sale);
    // An event that came after this request is newer than the answer, unless the answer is the outcome.
    if (event.heard < state.job.heard && event.sale.state !== "ended") return [state, []];
    return learn(state, event.sale, event);
  },
  step(state, { data, training = false, ...when }) {
    if (!data?.reference) return [state, [{ do: "status" }]];
    // Training and payments have separate references, which may be equal: neither is ever shown as the other.
    if (Boolean(data.training) !== training) return [state, []];
    if (!same(state, data)) return other(state, data, when);
    const { job } = state;
    const heard = job.heard + 1;
    let next = withJob(state, { heard });
    if (data.sale) {
      const [learned, effects] = learn(next, data.sale, when);
      return [withStep(learned, data, when), effects];
    }
    if (job.phase !== "known" || !isUnderWay(job)) return [next, job.phase === "asking" ? [fetchOf(next)] : []];
    next = withStep(withJob(next, { fresh: state.link === "up" || job.fresh, seenAt: when.now, wait: null }), data, when);
    const effects = SOUND_OF_STEP[data.step] ? [{ do: "sound", name: SOUND_OF_STEP[data.step] }] : [];
    // The transaction gives the length of the new wait.
    return [next, WAITS.includes(data.step) ? [...effects, fetchOf(next)] : effects];
  },
  status(state, { status, training, ...when }) {
    const open = status.unconfirmed ?? [];
    const next = { ...state, status, open };
    const running = !training && status.current;
    if (!running || !mayBeReplaced(state.job) || same(state, { reference: running.reference, till: running.till })) return [next, []];
    return adopt(next, running, when);
  },
  "link-up"(state) {
    if (state.link === "up") return [state, []];
    const next = { ...state, link: "up" };
    if (!next.job || next.job.phase === "refused" || next.job.posting) return [next, [{ do: "status" }]];
    return [next, [fetchOf(next), { do: "status" }]];
  },
  "link-lost"(state, { agent }) {
    const link = agent ? "agent-down" : "lost";
    if (state.link === link) return [state, []];
    const next = { ...state, link, job: state.job && { ...state.job, fresh: false } };
    return [next, state.job?.posting ? [{ do: "abort-post" }] : []];
  },
  /** Reads the state again after missed events or after some time. */
  look(state) {
    if (!state.job || state.job.phase === "refused" || state.job.phase === "not-begun" || state.job.posting) return [state, [{ do: "status" }]];
    if (state.job.phase === "known" && state.job.sale.state === "ended" && state.job.fresh) return [state, [{ do: "status" }]];
    return [state, [fetchOf(state), { do: "status" }]];
  },
  cancel(state) {
    if (!mayCancel(state.job)) return [state, []];
    return [withJob(state, { cancel: "asked" }), [about(state.job, { do: "cancel" })]];
  },
  /** Handles the cashier's decision about the signature, or about the till's confirmation. */
  judge(state, { accepted }) {
    const screen = screenOf(state.job);
    if (state.job?.judged || !["signature", "confirm"].includes(screen)) return [state, []];
    const effect = screen === "signature" ? { do: "sign", accepted } : { do: "confirm", taken: accepted ? "all" : "nothing" };
    return [withJob(state, { judged: accepted ? "accepted" : "refused" }), [about(state.job, effect)]];
  },
  /** Leaves the transaction, when it has ended or continues automatically. */
  leave(state) {
    if (!state.job || isUnderWay(state.job)) return [state, []];
    return [leave(state), [forget(state.job)]];
  },
  /**
   * Ends training mode from any screen: a training transaction in progress is cancelled, and the page does not wait for
   * it.
   */
  "end-training"(state) {
    const { job } = state;
    if (!job || !(job.sale?.training ?? job.request?.training)) return [state, []];
    const { reference } = job;
    const stop = screenOf(job) === "signature" ? [{ do: "sign", reference, accepted: false }]
      : isUnderWay(job) ? [{ do: "cancel", reference }] : [];
    return [leave(state), [...stop, forget(job)]];
  },
  "notice-read"(state) {
    return [{ ...state, notices: state.notices.slice(1) }, []];
  },
};
/** Handles the events about the job; those about another transaction change nothing. */
const OF_JOB = {
  posted(state, event) {
    const { job } = state;
    if (event.sale.replayed && job.posts === 1 && !job.sale && !job.restored) {
      // This is the first request with this reference, so the answer is another transaction's. Its outcome must not be
      // shown.
      const problem = { code: "amount-differs" };
      return [withJob(state, { phase: "refused", posting: false, problem }), [forget(job)]];
    }
    return learn(state, event.sale, event);
  },
  "post-refused"(state, event) {
    if (state.job.phase === "known") return [state, []];
    const { job } = state;
    if (mayHaveBegun(event.problem)) {
      return [withJob(state, { posting: false }), [again(job)]];
    }
    const keeps = event.problem.code === "supervisor-needed" || event.problem.code === "unauthorized";
    const refused = withJob(state, { posting: false, phase: "refused", problem: event.problem });
    return [refused, keeps ? [] : [forget(job), { do: "sound", name: "declined" }]];
  },
  "post-lost"(state) {
    if (state.job.phase !== "asking") return [state, []];
    return [withJob(state, { posting: false }), [again(state.job)]];
  },
  /** Asks again for a reference when it is unknown whether the request was received. */
  "ask-again"(state) {
    if (state.job.posting || state.link === "lost") return [state, []];
    return [state, [fetchOf(state)]];
  },
  missing(state, event) {
    if (state.job.phase !== "asking" || state.job.posting) return [state, []];
    const { job } = state;
    if (!job.restored && event.now - job.begunAt < REPEAT_MS) {
      const next = withJob(state, { posting: true, posts: job.posts + 1 });
      return [next, [{ do: "post", reference: job.reference, request: job.request }]];
    }
    return [withJob(state, { phase: "not-begun", fresh: true }), []];
  },
  "fetch-lost"(state) {
    if (state.job.phase === "refused") return [state, []];
    return [state, [again(state.job)]];
  },
  cancelled(state, event) {
    const [next, effects] = learn(state, event.sale, event);
    return [withJob(next, { cancel: event.cancel }), effects];
  },
  "cancel-lost"(state) {
    return [withJob(state, { cancel: "unanswered" }), [fetchOf(state)]];
  },
  judged(state, event) {
    return learn(state, event.sale, event);
  },
  "judge-lost"(state) {
    return [withJob(state, { judged: null }), [fetchOf(state)]];
  },
};

/** The events that the state machine knows. */
export const EVENTS = Object.keys({ ...HANDLERS, ...OF_JOB });

const SOUND_OF_STEP = { "remove-card": "card", "pin-wrong": "attention", "try-again": "attention" };

const forget = (job) => ({ do: "forget", reference: job.reference, till: job.sale?.till });
const again = (job) => ({ do: "later", ms: RETRY_MS, event: { type: "ask-again", reference: job.reference } });

/** Checks for the same transaction: a reference is unique only together with its till. */
const isSame = (one, sale) => one.reference === sale.reference && one.till === sale.till;

/** Closes the job; an unconfirmed transaction is still watched. */
function leave(state) {
  const sale = state.job?.sale;
  const next = { ...state, job: null };
  const isNew = isUnconfirmed(sale) && !sale.training && !state.open.some((one) => isSame(one, sale));
  return isNew ? { ...next, open: [...state.open, sale] } : next;
}

function learn(state, sale, { now, tick = now }) {
  const { job } = state;
  if (job.phase === "known" && job.sale.state === "ended" && sale.state !== "ended") return [state, []];
  const before = job.phase === "known" ? screenOf(job) : null;
  const stands = job.sale?.state === sale.state;
  const next = withJob(state, {
    phase: "known", posting: false, sale, fresh: true, seenAt: now, problem: null,
    // A page that has not received a step yet takes the last announced one.
    step: stands && job.step ? job.step : sale.step && isRunning(sale) ? { word: sale.step, text: "", at: tick } : null,
    since: job.since ?? tick - Math.max(0, now - job.begunAt),
    wait: sale.leftS === undefined ? null : { since: tick + (sale.leftS - (sale.waitS ?? sale.leftS)) * 1000, until: tick + sale.leftS * 1000 },
    judged: sale.state === "awaiting-signature" || sale.state === "awaiting-till" ? job.judged : null,
  });
  const screen = screenOf(next.job);
  // After a reload, and for another till's transaction, only the screen shows the state.
  const live = before !== null || !job.restored;
  const effects = live && screen !== before && SOUND_OF_SCREEN[screen] ? [{ do: "sound", name: SOUND_OF_SCREEN[screen] }] : [];
  if (sale.state === "ended" && before !== screen) effects.push({ do: "status" });
  return [next, effects];
}
const SOUND_OF_SCREEN = {
  approved: "approved", partial: "attention", declined: "declined", cancelled: "cancelled", "not-sent": "declined",
  reversed: "declined", signature: "attention", confirm: "attention", unconfirmed: "attention", finishing: "attention",
  "needs-person": "attention",
};

const WAITS = ["present-card", "authorising", "awaiting-signature", "awaiting-till", "waiting-for-card"];

function withStep(state, data, { now, tick = now }) {
  const { job } = state;
  if (job.phase !== "known" || !isUnderWay(job)) return state;
  const wait = WAITS.includes(data.step) ? tick : job.step?.wait;
  const text = data.text ?? "";
  // The reader asks for the PIN again milliseconds later, so what was wrong stays until the next PIN is entered.
  const wrong = data.step === "pin-wrong" ? text : data.step === "pin-entry" ? job.step?.wrong : undefined;
  return withJob(state, { step: { word: data.step, text, at: tick, wait, ...(wrong !== undefined && { wrong }) } });
}

function other(state, data, when) {
  if (data.sale && isRunning(data.sale) && mayBeReplaced(state.job)) {
    const [next, effects] = adopt(state, data.sale, when);
    return [withStep(next, data, when), effects];
  }
  return data.sale ? rememberOpen(state, data.sale) : [state, []];
}

/** Shows a transaction that another page or till has begun: every page shows it. */
function adopt(state, sale, when) {
  const { now } = when;
  const job = { ...newJob(sale.reference, null, null, now), mine: false };
  const [next] = learn({ ...leave(state), job }, sale, when);
  return [next, [fetchOf(next)]];
}

/** Updates the list of unconfirmed transactions and adds a notice when one of them has ended. */
function rememberOpen(state, sale) {
  // Training causes no notice, and its references are separate.
  if (sale.training) return [state, []];
  const known = state.open.find((one) => isSame(one, sale));
  const rest = state.open.filter((one) => one !== known);
  if (isUnconfirmed(sale)) return [{ ...state, open: [...rest, sale] }, []];
  if (!known || sale.state !== "ended") return [state, []];
  return [{ ...state, open: rest, notices: [...state.notices, sale] }, [{ do: "sound", name: "attention" }]];
}
