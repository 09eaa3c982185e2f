// A whole sale: node sale.mjs REFERENCE AMOUNT. Exits with 0 when it is approved.
import { readFileSync } from "node:fs";

const at = process.env.POS_AGENT ?? "http://127.0.0.1:8650";
const token = readFileSync(process.env.POS_AGENT_TOKEN_FILE, "utf8").trim();
const [reference, amount] = process.argv.slice(2);

/** Sends a request. When the answer is lost, it sends it again: the reference makes both one sale. */
async function ask(path, body, accept = "application/json") {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Accept: accept };
  const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  for (let attempt = 0; attempt < 10; attempt += 1) {
    try {
      const answer = await fetch(at + path, { ...request, signal: AbortSignal.timeout(90_000) });
      const text = await answer.text();
      if (answer.ok) return text;
      const { code, detail } = JSON.parse(text);
      if (!["no-answer", "too-many-requests", "no-place", "timeout", "agent-down"].includes(code)) stop(2, `refused: ${detail}`);
    } catch (lost) {
      console.error(`asked again: ${lost}`);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
  stop(3, "the terminal does not answer: ask for the same reference later");
}

function stop(code, why) {
  console.error(why);
  process.exit(code);
}

let sale = JSON.parse(await ask("/v1/sales", { reference, amount }));
while (sale.state !== "ended") {
  // The text for the cashier. With awaiting-signature: compare it, and post {"accepted":true} or false to …/signature.
  console.log(sale.text);
  // A sale that waits for a person is answered at once.
  await new Promise((done) => setTimeout(done, 1000));
  sale = JSON.parse(await ask(`/v1/sales/${reference}?wait-s=60`));
}
console.log(`${sale.outcome}: ${sale.text}`);
if (sale.outcome !== "approved") process.exit(1);
console.log(await ask(`/v1/sales/${reference}/receipt?width=32`, null, "text/plain"));
