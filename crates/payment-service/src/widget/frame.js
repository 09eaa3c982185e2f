'use strict';
// The fields for the shopper's payment data, in a frame of the payment service. The frame tells the surrounding page
// whether the fields are valid, and what the payment's outcome is. Only the service receives the typed data. The
// browser tells the frame the origin of the surrounding page, and the frame reports it to the service.

const digits = (text) => text.replace(/[\s-]/g, '');

// Returns the brand of a card from the first digits of its number.
function brandOf(number) {
  const first = (n) => Number(number.slice(0, n));
  if (/^4/.test(number)) return 'VISA';
  if ((first(2) >= 51 && first(2) <= 55) || (first(4) >= 2221 && first(4) <= 2720)) return 'MASTER';
  if (/^3[47]/.test(number)) return 'AMEX';
  if (/^35/.test(number)) return 'JCB';
  if (/^3[68]|^30/.test(number)) return 'DINERS';
  if (/^6011|^65/.test(number)) return 'DISCOVER';
  if (/^5[06-9]|^67/.test(number)) return 'MAESTRO';
  return /^62/.test(number) ? 'UNIONPAY' : '';
}

function passesLuhn(number) {
  let sum = 0;
  [...number].reverse().forEach((digit, n) => {
    const twice = Number(digit) * (n % 2 ? 2 : 1);
    sum += twice > 9 ? twice - 9 : twice;
  });
  return sum % 10 === 0;
}

// Reads the month and the year, and checks only their format. The service's clock decides whether the card has expired.
function expiryOf(text) {
  const found = /^\s*(0[1-9]|1[0-2])\s*\/?\s*(?:20)?(\d{2})\s*$/.exec(text);
  return found && { month: found[1], year: `20${found[2]}` };
}

function passesIban(text) {
  const iban = text.replace(/\s/g, '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,27}$/.test(iban)) return false;
  const moved = iban.slice(4) + iban.slice(0, 4);
  const number = [...moved].map((c) => (/\d/.test(c) ? c : String(c.charCodeAt(0) - 55))).join('');
  return BigInt(number) % 97n === 1n;
}

const isName = (text) => text.trim().length >= 3 && !/\d/.test(text);

// The fields of each kind of form, with their labels, checks and parameters.
const FIELDS = {
  card: [
    {
      word: 'cardNumber', autocomplete: 'cc-number', inputMode: 'numeric',
      right: (text) => /^\d{12,19}$/.test(digits(text)) && passesLuhn(digits(text)),
      sent: (text) => [['card.number', digits(text)]],
    },
    {
      word: 'expiry', autocomplete: 'cc-exp', inputMode: 'numeric', right: expiryOf,
      sent: (text) => [['card.expiryMonth', expiryOf(text).month], ['card.expiryYear', expiryOf(text).year]],
    },
    { word: 'cardHolder', autocomplete: 'cc-name', right: isName, sent: (text) => [['card.holder', text.trim()]] },
    {
      word: 'cvv', autocomplete: 'cc-csc', inputMode: 'numeric', right: (text) => /^\d{3,4}$/.test(text.trim()),
      sent: (text) => [['card.cvv', text.trim()]],
    },
  ],
  bank: [
    { word: 'holder', autocomplete: 'name', right: (text) => text.trim().length >= 4, sent: (text) => [['bankAccount.holder', text.trim()]] },
    { word: 'iban', autocomplete: 'off', right: passesIban, sent: (text) => [['bankAccount.iban', text.replace(/\s/g, '').toUpperCase()]] },
    {
      word: 'bic', autocomplete: 'off', right: (text) => /^\s*[A-Za-z0-9]{8}([A-Za-z0-9]{3})?\s*$/.test(text),
      sent: (text) => [['bankAccount.bic', text.trim().toUpperCase()]],
    },
  ],
  gift: [
    { word: 'giftNumber', autocomplete: 'off', right: (text) => text.trim().length >= 2, sent: (text) => [['giftCard.number', text.trim()]] },
    { word: 'giftPin', autocomplete: 'off', right: (text) => text.trim().length >= 2, sent: (text) => [['giftCard.pin', text.trim()]] },
  ],
  account: [
    { word: 'accountId', autocomplete: 'email', right: (text) => text.trim() !== '', sent: (text) => [['virtualAccount.accountId', text.trim()]] },
  ],
};

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Accepts the surrounding page's first message. It brings the page's origin, as the browser states it, and the only
// message port to the page.
function begin(event) {
  if (event.source !== window.parent || event.data?.wpwl !== 'begin' || !event.ports[0]) return;
  removeEventListener('message', begin);
  const { kind, words, language, checkout, wallet } = event.data;
  const [port] = event.ports;
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
  new ResizeObserver(() => {
    port.postMessage({ height: Math.ceil(document.documentElement.getBoundingClientRect().height) });
  }).observe(document.documentElement);
  if (kind === 'wallet') showSheet({ port, words, checkout, wallet });
  else showFields({ port, words, kind, shop: event.origin });
}

function showFields({ port, words, kind, shop }) {
  const fields = FIELDS[kind].map((field) => {
    const { word, autocomplete, inputMode = 'text' } = field;
    const input = element('input', { id: word, name: word, autocomplete, inputMode, required: true, spellcheck: false });
    // This keeps groups of digits in order in right-to-left languages.
    input.dir = 'auto';
    document.body.append(element('label', { htmlFor: word }, words[word] ?? word), input);
    input.addEventListener('keydown', ({ key }) => key === 'Enter' && port.postMessage({ enter: true }));
    input.addEventListener('input', () => input.removeAttribute('aria-invalid'));
    return { ...field, input };
  });
  const asked = {
    check() {
      const wrong = fields.filter(({ input, right }) => !right(input.value));
      wrong.forEach(({ input }) => input.setAttribute('aria-invalid', 'true'));
      wrong[0]?.input.focus();
      const brand = kind === 'card' ? brandOf(digits(fields[0].input.value)) : '';
      return { valid: wrong.length === 0, wrong: wrong.map(({ word }) => words[word] ?? word), brand };
    },
    pay({ path, fields: more }) {
      return pay(path, [...more, ...fields.flatMap(({ input, sent }) => sent(input.value))], shop);
    },
  };
  port.onmessage = async ({ data }) => port.postMessage(await asked[data.ask](data));
  port.postMessage({ ready: true });
}

// Sends the payment. If the answer is lost, the payment may still have been made, so the shop's server asks for the
// outcome.
async function pay(path, fields, shop) {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8', 'Widget-Origin': shop };
  try {
    const answer = await fetch(path, { method: 'POST', body: new URLSearchParams(fields).toString(), headers });
    return { status: answer.status, answer: await answer.json() };
  } catch {
    return { lost: true };
  }
}

// Shows the simulated phone, which displays the amount and asks the shopper to confirm or cancel.
async function showSheet({ port, words, checkout, wallet }) {
  const asked = await fetch(`/v1/widget/wallet?${new URLSearchParams({ checkout, wallet })}`).then((answer) => answer.json());
  const { amount, currency, token } = asked;
  if (!token) return port.postMessage({ token: null });
  const yes = element('button', { id: 'wallet-pay', textContent: words.payNow });
  const no = element('button', { id: 'wallet-cancel', textContent: words.cancel });
  yes.addEventListener('click', () => port.postMessage({ token }));
  no.addEventListener('click', () => port.postMessage({ token: null }));
  document.body.append(element('p', { id: 'wallet-amount', textContent: `${amount} ${currency}` }), yes, no);
  yes.focus();
}

addEventListener('message', begin);
