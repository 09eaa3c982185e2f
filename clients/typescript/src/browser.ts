// The transport over `fetch`, and the browser's permission for the local network (Local Network Access).

import { LocalNetworkDenied, NoAnswer } from "./errors.js";
import type { Transport } from "./transport.js";

export type AddressSpace = "local" | "loopback" | "public";
export type LocalNetwork = "granted" | "prompt" | "denied" | "not-needed";

/** Returns where an address is, as far as its text says. */
export function addressSpaceOf(url: string | URL): AddressSpace {
  const host = new URL(url).hostname.toLowerCase();
  if (/^(.+\.)?localhost$|^\[::1\]$|^127\.[\d.]+$/.test(host)) return "loopback";
  const isLocal = /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)[\d.]+$/.test(host)
    || /^\[(f[cd]|fe[89ab])/.test(host) || host.endsWith(".local");
  return isLocal ? "local" : "public";
}

const NARROWEST_FIRST: readonly AddressSpace[] = ["loopback", "local", "public"];
/** Returns whether this page is in a wider network than the terminal. Other pages need no permission. */
function comesFromOutside(space: AddressSpace): boolean {
  const page = globalThis.location ? addressSpaceOf(globalThis.location.href) : "public";
  return NARROWEST_FIRST.indexOf(page) > NARROWEST_FIRST.indexOf(space);
}

/** Returns the browser's permission for this terminal. With `prompt`, say why before the first request. */
export async function localNetwork(url: string | URL, space = addressSpaceOf(url)): Promise<LocalNetwork> {
  const permissions = globalThis.navigator?.permissions;
  if (!comesFromOutside(space) || !globalThis.isSecureContext || !permissions) return "not-needed";
  // Chrome 142 knows one name for both networks, and Chrome 145 one for each.
  for (const name of [space === "loopback" ? "loopback-network" : "local-network", "local-network-access"]) {
    try {
      return (await permissions.query({ name: name as PermissionName })).state;
    } catch { /* the browser does not know the name */ }
  }
  return "not-needed";
}

/** The options of the transport over `fetch`. */
export interface FetchOptions {
  /** Where the terminal is, if its name does not say so. */
  addressSpace?: AddressSpace;
  /** Says why the browser may now ask for the local network. The first request waits for its end. */
  explain?: () => void | Promise<void>;
}

/** Makes the transport over `fetch`. In the browser, the trust in the terminal's CA is the device's matter. */
export function fetchTransport({ addressSpace, explain }: FetchOptions = {}): Transport {
  let asked: Promise<void> | undefined;
  return async ({ url, ...wanted }) => {
    const space = addressSpace ?? addressSpaceOf(url);
    const denied = () => new LocalNetworkDenied(space === "loopback" ? "Apps on device" : "Local network");
    const permission = await localNetwork(url, space);
    if (permission === "denied") throw denied();
    if (permission === "prompt") await (asked ??= Promise.resolve(explain?.()));
    // Only a request without TLS must name its network. The browser refuses a wrong name: a name that ends with .local
    // may have a public IPv6 address.
    const isNamed = permission !== "not-needed" && new URL(url).protocol === "http:";
    try {
      const how = { cache: "no-store", credentials: "omit", redirect: "error" } as const;
      const answer = await fetch(url, { ...wanted, ...how, ...(isNamed && { targetAddressSpace: space }) });
      return { status: answer.status, header: (name) => answer.headers.get(name), body: parts(answer.body) };
    } catch (error) {
      const now = permission === "prompt" ? await localNetwork(url, space) : permission;
      if (now === "denied") throw denied();
      const remedy = now === "prompt" ? "; if the browser asks for the local network, allow it" : "";
      throw new NoAnswer(`no answer from ${new URL(url).host}${remedy}`, wanted.method === "POST", error);
    }
  };
}

/** Not every browser can iterate over a stream. */
async function* parts(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (let part; reader && !(part = await reader.read()).done;) yield part.value;
  } finally {
    await reader?.cancel().catch(() => {});
  }
}
