// A till with the unmodified @adyen/api-library. It makes a payment, queries its status, reverses it, aborts another
// payment and diagnoses the terminal. It pays once, so the person who runs it taps one card.
//
//   node till.js CA.pem sealed|plain SALE_ID
"use strict";

const assert = require("node:assert");
const { Client, Config, EnvironmentEnum } = require("@adyen/api-library");
const { default: Sealed } = require("@adyen/api-library/lib/src/services/terminalLocalAPI");
const { default: Plain } = require("@adyen/api-library/lib/src/services/terminalLocalAPIUnencrypted");

const [certificatePath, form, saleId] = process.argv.slice(2);
const config = new Config({
  environment: EnvironmentEnum.TEST,
  apiKey: "means nothing here",
  certificatePath,
  terminalApiLocalEndpoint: "https://127.0.0.1",
});
const client = new Client(config);
const key = { AdyenCryptoVersion: 1, KeyIdentifier: "mykey", KeyVersion: 1, Passphrase: "mypassphrase" };
const api = form === "sealed" ? new Sealed(client) : new Plain(client);

const now = () => new Date().toISOString();
let count = 0;

async function ask(category, body) {
  count += 1;
  const request = {
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
  const answer = form === "sealed" ? await api.request(request, key) : await api.request(request);
  return answer.SaleToPOIResponse?.[`${category}Response`] ?? answer;
}

const payment = (amount, transaction) => ({
  SaleData: { SaleTransactionID: { TransactionID: transaction, TimeStamp: now() } },
  PaymentTransaction: { AmountsReq: { Currency: "EUR", RequestedAmount: amount } },
});

const reference = (service) => ({ MessageCategory: "Payment", SaleID: saleId, ServiceID: String(service) });

async function main() {
  const paid = await ask("Payment", payment(12.34, "order 1"));
  assert.equal(paid.Response.Result, "Success", JSON.stringify(paid));
  assert.equal(paid.PaymentResult.AmountsResp.AuthorizedAmount, 12.34);
  assert.equal(paid.PaymentResult.PaymentInstrumentData.CardData.EntryMode[0], "Contactless");
  assert.equal(paid.PaymentReceipt.length, 2);

  const status = await ask("TransactionStatus", { MessageReference: reference(1), ReceiptReprintFlag: true });
  assert.equal(status.Response.Result, "Success", JSON.stringify(status));
  const repeated = status.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse;
  assert.equal(repeated.POIData.POITransactionID.TransactionID, paid.POIData.POITransactionID.TransactionID);

  const refund = await ask("Reversal", {
    OriginalPOITransaction: { POITransactionID: paid.POIData.POITransactionID },
    ReversalReason: "MerchantCancel",
    ReversedAmount: 2.34,
  });
  assert.equal(refund.Response.Result, "Success", JSON.stringify(refund));
  assert.equal(refund.ReversedAmount, 2.34);

  const waits = ask("Payment", payment(5, "order 2"));
  const service = count;
  for (;;) {
    const seen = await ask("TransactionStatus", { MessageReference: reference(service) });
    if (seen.Response.ErrorCondition === "InProgress") break;
  }
  await ask("Abort", { AbortReason: "MerchantAbort", MessageReference: reference(service) });
  const aborted = await waits;
  assert.equal(aborted.Response.Result, "Failure", JSON.stringify(aborted));
  assert.equal(aborted.Response.ErrorCondition, "Aborted");

  const diagnosis = await ask("Diagnosis", { HostDiagnosisFlag: true });
  assert.equal(diagnosis.POIStatus.CardReaderOKFlag, true, JSON.stringify(diagnosis));
  console.log(`${form}: payment, status, refund, abort, diagnosis`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
