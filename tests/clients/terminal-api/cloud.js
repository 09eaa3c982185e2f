// A till with the cloud client of the unmodified @adyen/api-library, and its server. It makes a payment with an answer
// at once, and one with an answer later. Then it queries the status, aborts another payment and tries a wrong key. It
// pays twice, so the person who runs it taps two cards. NODE_EXTRA_CA_CERTS names the terminal's CA.
//
//   node cloud.js https://127.0.0.1:8443 API_KEY_FILE SALE_ID SERVER_KEY.pem SERVER_CERTIFICATE.pem SERVER_PORT
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const https = require("node:https");
const { Client, Config, EnvironmentEnum } = require("@adyen/api-library");
const { default: Cloud } = require("@adyen/api-library/lib/src/services/terminalCloudAPI");

const [endpoint, keyFile, saleId, serverKey, serverCertificate, serverPort] = process.argv.slice(2);

function cloud(apiKey) {
  const client = new Client(new Config({ environment: EnvironmentEnum.TEST, apiKey }));
  // The client's constructor sets Adyen's address, so the terminal's address is set after it.
  client.config.terminalApiCloudEndpoint = endpoint;
  return new Cloud(client);
}

const api = cloud(fs.readFileSync(keyFile, "utf8").trim());
let count = 0;

function request(category, body) {
  count += 1;
  return {
    SaleToPOIRequest: {
      MessageHeader: {
        ProtocolVersion: "3.0",
        MessageClass: "Service",
        MessageCategory: category,
        MessageType: "Request",
        ServiceID: String(count),
        SaleID: saleId,
        POIID: "PosAgent-1",
      },
      [`${category}Request`]: body,
    },
  };
}

const payment = (amount, transaction, data) => ({
  SaleData: {
    SaleTransactionID: { TransactionID: transaction, TimeStamp: new Date().toISOString() },
    SaleToAcquirerData: data,
  },
  PaymentTransaction: { AmountsReq: { Currency: "EUR", RequestedAmount: amount } },
});

const reference = (service) => ({ MessageCategory: "Payment", SaleID: saleId, ServiceID: String(service) });

// The till's server. `posted(id)` waits for the answer to a message.
const answers = new Map();
const waiting = new Map();
const credentials = { key: fs.readFileSync(serverKey), cert: fs.readFileSync(serverCertificate) };
const server = https.createServer(credentials, (incoming, outgoing) => {
  let text = "";
  incoming.on("data", (piece) => (text += piece));
  incoming.on("end", () => {
    const answer = JSON.parse(text).SaleToPOIResponse;
    const id = answer.MessageHeader.ServiceID;
    answers.set(id, answer);
    waiting.get(id)?.(answer);
    outgoing.end("[accepted]");
  });
});
const posted = (id) =>
  new Promise((resolve) => (answers.has(String(id)) ? resolve(answers.get(String(id))) : waiting.set(String(id), resolve)));

const metadata = (response, name) => new URLSearchParams(response.Response.AdditionalResponse).get(`metadata.${name}`);

async function main() {
  await new Promise((resolve) => server.listen(Number(serverPort), "127.0.0.1", resolve));
  const sync = await api.sync(request("Payment", payment(12.34, "order 1", "metadata.order=one")));
  const paid = sync.SaleToPOIResponse.PaymentResponse;
  assert.equal(paid.Response.Result, "Success", JSON.stringify(paid));
  assert.equal(metadata(paid, "order"), "one");
  assert.equal(paid.PaymentReceipt.length, 2);

  // The library sends an object in base64.
  const data = { metadata: { order: "two" }, applicationInfo: { merchantApplication: { name: "till", version: "1" } } };
  assert.equal(await api.async(request("Payment", payment(5, "order 2", data))), "ok");
  const service = count;
  const later = (await posted(service)).PaymentResponse;
  assert.equal(later.Response.Result, "Success", JSON.stringify(later));
  assert.equal(later.PaymentResult.AmountsResp.AuthorizedAmount, 5);
  assert.equal(metadata(later, "order"), "two");

  const named = { MessageReference: reference(service), ReceiptReprintFlag: true };
  const status = (await api.sync(request("TransactionStatus", named))).SaleToPOIResponse.TransactionStatusResponse;
  const repeated = status.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse;
  assert.equal(repeated.POIData.POITransactionID.TransactionID, later.POIData.POITransactionID.TransactionID);
  assert.equal(metadata(repeated, "order"), "two");

  assert.equal(await api.async(request("Payment", payment(7, "order 3"))), "ok");
  const stopped = count;
  for (;;) {
    const seen = await api.sync(request("TransactionStatus", { MessageReference: reference(stopped) }));
    if (seen.SaleToPOIResponse.TransactionStatusResponse.Response.ErrorCondition === "InProgress") break;
  }
  const abort = { AbortReason: "MerchantAbort", MessageReference: reference(stopped) };
  assert.equal(await api.async(request("Abort", abort)), "ok");
  const aborted = (await posted(stopped)).PaymentResponse;
  assert.equal(aborted.Response.ErrorCondition, "Aborted", JSON.stringify(aborted));
  // The cloud answers an abort on /sync with an empty body.
  await api.sync(request("Abort", abort));

  await assert.rejects(cloud("a wrong key of this till").sync(request("Diagnosis", {})), (error) => {
    assert.equal(error.statusCode, 401);
    assert.match(error.responseBody, /^x-api-key: /);
    return true;
  });
  const refused = request("Diagnosis", {});
  refused.SaleToPOIRequest.MessageHeader.POIID = "PosAgent-2";
  const rejected = await api.async(refused);
  assert.equal(rejected.SaleToPOIRequest.EventNotification.EventToNotify, "Reject", JSON.stringify(rejected));
  console.log("cloud: sync, async, status, abort, wrong key, reject");
  server.close();
  server.closeAllConnections();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
