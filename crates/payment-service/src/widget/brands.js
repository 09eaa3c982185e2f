// The form of each brand. The form decides which of the shopper's data the frame requests (frame.js).

const CARDS = ['VISA', 'MASTER', 'AMEX', 'MAESTRO', 'JCB', 'DINERS', 'DISCOVER', 'UNIONPAY'];

// The options of the wallets, with the interface's names (Fast checkout). The interface has no options for wallet A.
const OPTIONS_OF_B = [
  'gatewayMerchantId', 'merchantId', 'merchantName', 'currencyCode', 'prefetchPriceStatus', 'amount', 'displayItems',
  'onPaymentDataChanged', 'billingAddressRequired', 'billingAddressParameters', 'onPaymentAuthorized',
];
const OPTIONS_OF_C = [
  'merchantId', 'ledgerCurrency', 'sandbox', 'checkoutLanguage', 'productType', 'placement', 'buttonColor',
];

// `kind` selects the fields of the frame. `wallet` is the prefix of the wallet's parameters, and the wallet's object in
// wpwlOptions with the option names.
const BRANDS = {
  DIRECTDEBIT_SEPA: { kind: 'bank' },
  ONLINETRANSFER: { kind: 'bank' },
  GIFTCARD: { kind: 'gift' },
  MARKETPLACE_PAY: { kind: 'account' },
  ONLINE_WALLET: { kind: 'account' },
  WALLET_A: { wallet: '<wallet_a>', options: 'walletA' },
  WALLET_B: { wallet: '<wallet_b>', options: 'walletB', names: OPTIONS_OF_B },
  WALLET_C: { wallet: '<wallet_c>', options: 'walletC', names: OPTIONS_OF_C },
};

// Returns the forms for a list of brands, in their order: one for all cards, and one for each other brand.
function formsFor(listed) {
  const forms = [];
  for (const brand of new Set(listed)) {
    if (CARDS.includes(brand)) {
      const cards = forms.find((form) => form.kind === 'card');
      if (cards) cards.brands.push(brand);
      else forms.push({ kind: 'card', brands: [brand] });
    } else if (BRANDS[brand]) {
      forms.push({ ...BRANDS[brand], brands: [brand] });
    } else {
      console.error(`paymentWidgets: data-brands has ${JSON.stringify(brand)}, which is not known; it is left out`);
    }
  }
  return forms;
}
