// A small terminal for tests: it answers with what the test says, and remembers what it was asked.

import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";

/** Starts a server. `answers(asked)` returns `[status, body, headers]`, or `"cut"` to end the connection. */
export async function server(t, answers, tls) {
  const asked = [];
  const handle = async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const url = new URL(request.url, "http://x");
    const one = {
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text && JSON.parse(text),
    };
    asked.push(one);
    const said = await answers(one, asked.length);
    if (said === "cut") return request.socket.destroy();
    const [status, body = {}, headers = {}] = said;
    const type = status < 300 ? "application/json" : "application/problem+json";
    response.writeHead(status, { "Content-Type": type, ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
  const one = tls ? createSecureServer(tls, handle) : createServer(handle);
  await new Promise((done) => one.listen(0, "127.0.0.1", done));
  t.after(() => {
    one.close();
    one.closeAllConnections();
  });
  return { url: `${tls ? "https" : "http"}://127.0.0.1:${one.address().port}`, asked };
}

export const sale = (state, more) => ({
  till: "till-1",
  reference: "r-1",
  number: 7,
  kind: "sale",
  amount: "12.34",
  currency: "EUR",
  state,
  text: "",
  replayed: false,
  ...more,
});
export const problem = (status, code, more) => [
  status,
  { type: `urn:pos-agent:problem:${code}`, title: code, status, code, detail: "do this", ...more },
];
