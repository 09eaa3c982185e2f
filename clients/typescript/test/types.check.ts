// The compiler checks this file: each marked line must be an error.

import { type Sale, Terminal, ProblemError } from "pos-agent-client";
import { nodeTransport, pair } from "pos-agent-client/node";

const terminal = new Terminal({ url: "https://kasse.local:8443", token: "t", transport: nodeTransport({ ca: "" }) });

export async function checked(): Promise<void> {
  const sale: Sale = await terminal.sell({ amount: "12.34", tip: "ask" }, { onSignature: () => true });
  // @ts-expect-error An amount is a text.
  await terminal.sell({ amount: 12.34 });
  // @ts-expect-error A tip is a text.
  await terminal.sell({ amount: "12.34", tip: 1.5 });
  // @ts-expect-error There is no such kind.
  await terminal.sell({ amount: "12.34", kind: "sail" });
  // @ts-expect-error The confirmation of a part needs its amount.
  await terminal.confirm("r", { taken: "part" });
  // @ts-expect-error Only an ended transaction has an outcome.
  const outcome: string = sale.outcome;
  if (sale.state === "a-later-state" || outcome === "a-later-outcome") return;
  const text: string = await terminal.receipt(sale.reference, { as: "text", width: 32 });
  const lines: string = (await terminal.receipt(sale.reference)).text;
  for await (const { number } of terminal.sales({ order: "newest", outcome: "approved" }))
    console.assert(number > 0, text, lines);
  for await (const event of terminal.events())
    if (event.kind === "step") console.assert(event.data.sale?.state !== "ended");
  const isBusy = (error: unknown) =>
    error instanceof ProblemError && (error.code === "busy" || error.code === "a-later-code");
  const { token, ca } = await pair({ url: "https://kasse.local:8443", name: "t", askCode: () => "1" }).catch(
    (error: unknown) => {
      throw isBusy(error) ? error : new Error("not paired");
    },
  );
  console.assert(token.length > 0 && ca !== undefined);
}
