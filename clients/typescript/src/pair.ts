// Pairing: a person opens it at the terminal, and types the code that the terminal shows.

import { ProblemError } from "./errors.js";
import { PAUSE } from "./follow.js";
import { addressOf } from "./terminal.js";
import { ask, objectOf, repeated, sleep, type Transport } from "./transport.js";

export interface PairOptions {
  url: string | URL;
  /** The till's name, one of `tills` in the front's configuration. */
  name: string;
  /** Asks for the code that the terminal shows; `wrong` is true after a wrong one. */
  askCode: (asked: { goodForS: number | undefined; wrong: boolean }) => string | Promise<string>;
  signal?: AbortSignal;
}

/** Pairs over a transport. It waits until a person has approved the code at the terminal. */
export async function pairOver(transport: Transport, options: PairOptions): Promise<{ till: string; token: string }> {
  const { url, name, askCode, signal } = options;
  const base = addressOf(url);
  const post = <T extends object>(path: string, body: object) => repeated(async () => {
    const call = { method: "POST" as const, url: new URL(path, base), body, ms: 35_000, signal };
    const { status, text } = await ask(transport, call);
    return { status, said: objectOf<T>(text, call) };
  }, true, signal);
  const { said: { request, goodForS } } = await post<{ request: string; goodForS?: number }>("front/pair", { name });
  const path = `front/pair/${encodeURIComponent(request)}`;
  const code = async (wrong: boolean) => (await askCode({ goodForS, wrong })).replace(/\s/g, "");
  for (let typed = await code(false);;) {
    try {
      const { said } = await post<{ till?: string; token?: string }>(path, { code: typed });
      if (said.token !== undefined) return { till: said.till ?? name, token: said.token };
      await sleep(PAUSE, signal);
      signal?.throwIfAborted();
    } catch (error) {
      if (!(error instanceof ProblemError && error.code === "wrong-code")) throw error;
      typed = await code(true);
    }
  }
}
