// The form for each brand. It decides which data the frame asks the shopper for (frame.js).

const CARDS = ['VISA', 'MASTER', 'AMEX', 'MAESTRO', 'JCB', 'DINERS', 'DISCOVER', 'UNIONPAY'];

// The names of the wallets' options in the interface (Fast checkout). The interface has no options for wallet A.
const OPTIONS_OF_B = [
  'gatewayMerchantId', 'merchantId', 'merchantName', 'currencyCode', 'prefetchPriceStatus', 'amount', 'displayItems',
  'onPaymentDataChanged', 'billingAddressRequired', 'billingAddressParameters', 'onPaymentAuthorized',
];
const OPTIONS_OF_C = [
  'merchantId', 'ledgerCurrency', 'sandbox', 'checkoutLanguage', 'productType', 'placement', 'buttonColor',
];

// `kind` selects the fields of the frame. `wallet` is the prefix of the wallet's parameters. `options` is the wallet's
// object in wpwlOptions, and `names` lists its options.
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

// Returns the forms for a list of brands, in the order of the list. All cards share one form, and each other brand has
// its own.
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
