// The types of the interface. Only this file uses the generated names, and it takes them by path, so a new arrangement
// of the description's components does not matter.

import type { operations, paths } from "./schema.js";

/** A word of a list that a newer agent may extend. */
export type Later<Word> = Word | (string & {});

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : never;
type Got<Path extends keyof paths> =
  paths[Path] extends { get: { responses: { 200: infer Answer } } } ? Json<Answer> : never;
type Posted<Path extends keyof paths> =
  paths[Path] extends { post: { requestBody: infer Body } } ? Json<Body> : never;
type SaleAsDescribed = Got<"/v1/sales/{reference}">;
type Asked = Posted<"/v1/sales">;

export type State = Later<SaleAsDescribed["state"]>;
export type Outcome = Later<NonNullable<SaleAsDescribed["outcome"]>>;
/** A transaction. `outcome` is absent until it has ended. */
export type Sale = Omit<SaleAsDescribed, "state" | "outcome"> & { state: State; outcome?: Outcome };
/** A transaction, and whether its cancel came `in-time`. */
export type Cancelled = Sale & { cancel: Later<"in-time" | "too-late">; cancelText?: string };
/** The body of `POST /v1/sales`. Amounts are texts such as `"12.34"`. */
export type Begin = Asked;
/** The same without a reference, which the client can make. */
export type SaleRequest = Omit<Asked, "reference"> & { reference?: string };
/** How much of an approval the till takes. */
export type Taken = { taken: "all" } | { taken: "nothing" } | { taken: "part"; amount: string };
export type Kind = NonNullable<Asked["kind"]>;
export type Status = Got<"/v1/status">;
export type Receipt = Got<"/v1/sales/{reference}/receipt">;
export type Close = Got<"/v1/closes/{close}">;
/** The filters of `GET /v1/sales`. */
export type SalesFilters = Omit<NonNullable<operations["listSales"]["parameters"]["query"]>, "cursor" | "till">;

/** The data of an event. `sale` is present if the step changes the transaction. */
export interface Progress {
  till: string;
  reference: string;
  step: string;
  text: string;
  sale?: Sale;
  training?: boolean;
}

type Refusal<Answers> = Answers extends { content: { "application/problem+json": infer Body } } ? Body : never;
type Answers = { [Name in keyof operations]: operations[Name]["responses"][keyof operations[Name]["responses"]] };
type Refused = Refusal<Answers[keyof Answers]>;
/** The codes of the front's own problems. */
type FrontCode = "sign-in" | "wrong-code" | "pairing-closed" | "no-such-request" | "host" | "agent-down"
  | "callback-not-allowed" | "state";
export type ProblemCode = Later<NonNullable<Refused["code"]> | FrontCode>;
/** A refusal, as problem details (RFC 9457). */
export type Problem = Omit<Refused, "code"> & { code: ProblemCode };
