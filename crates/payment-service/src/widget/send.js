// The steps after the shopper's click: the checkout, the payment, and the next page.

const script = document.currentScript;
const address = new URL(script.src);
const service = address.origin;
const checkoutOfScript = address.searchParams.get('checkoutId');

const options = () => window.wpwlOptions ?? {};

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Returns the checkout to pay. It is the script's checkout or, in fast checkout, a new one from the shop.
async function checkoutFor(brand) {
  if (checkoutOfScript) return checkoutOfScript;
  const create = options().createCheckout;
  if (typeof create !== 'function') {
    throw new Error('wpwlOptions.createCheckout is missing: the script was loaded without checkoutId');
  }
  const id = await create({ brand });
  if (typeof id !== 'string' || !/^[A-Za-z0-9.-]{32,48}$/.test(id)) {
    throw new Error('wpwlOptions.createCheckout has returned no checkout id');
  }
  return id;
}

// Returns the browser's data for 3-D Secure (data-model: Customer).
function browserFields() {
  const java = typeof navigator.javaEnabled === 'function' && navigator.javaEnabled();
  return [
    ['customer.browser.acceptHeader', '*/*'],
    ['customer.browser.language', (navigator.language || 'en').slice(0, 8)],
    ['customer.browser.screenHeight', String(screen.height)],
    ['customer.browser.screenWidth', String(screen.width)],
    ['customer.browser.timezone', String(new Date().getTimezoneOffset())],
    ['customer.browser.userAgent', navigator.userAgent],
    ['customer.browser.javaEnabled', String(java)],
    ['customer.browser.screenColorDepth', String(screen.colorDepth)],
  ];
}

const pathOf = (id, purpose) => `/v1/checkouts/${id}/${purpose}`;

// Sends a POST request to the service. If the answer is lost, the payment may still have been made.
async function post(url, fields, headers) {
  const kind = 'application/x-www-form-urlencoded; charset=UTF-8';
  try {
    const answer = await fetch(url, {
      method: 'POST', body: new URLSearchParams(fields).toString(), headers: { 'Content-Type': kind, ...headers },
      credentials: 'omit',
    });
    return { status: answer.status, answer: await answer.json() };
  } catch {
    return { lost: true };
  }
}

// Returns the address where the shopper continues if the service's answer is missing.
function wayBack(action, id, purpose) {
  const url = new URL(action);
  url.searchParams.append('id', id);
  url.searchParams.append('resourcePath', pathOf(id, purpose));
  return url.href;
}

// A browser repeats a request automatically if a reused connection breaks. In that case the first request made the
// payment, and the service refuses the second with this code. The shop then asks for the outcome.
const WAS_USED = '700.300.700';

// Continues after a payment, on the page that the payment requires or at the shop. A refusal is shown with its reason.
function goOn(done, { id, brand, action, purpose, say, container, words }) {
  const { lost, status, answer } = done;
  if (lost || status >= 500 || answer.result?.code === WAS_USED) {
    location.assign(wayBack(action, id, purpose));
  } else if (answer.redirect?.url) {
    sendTo(answer.redirect, { id, brand, container, words });
  } else if (answer.resourcePath) {
    location.assign(answer.shopperResultUrl ?? wayBack(action, id, purpose));
  } else if (answer.result?.code === '800.120.100') {
    say(words.busy);
  } else {
    say(`${words.refused} ${answer.result?.description ?? status}`);
  }
}

// Opens a page of the service in the whole window or, for brands in inlineFlow, in a frame.
function sendTo({ url, parameters }, { id, brand, container, words }) {
  const fields = (parameters ?? []).map(({ name, value }) => element('input', { type: 'hidden', name, value }));
  const way = element('form', { method: 'post', action: url, hidden: true }, ...fields);
  if ((options().inlineFlow ?? []).includes(brand)) {
    const frame = element('iframe', { name: `wpwl-inline-${id}`, className: 'wpwl-inline', title: words.paymentFrame });
    way.target = frame.name;
    addEventListener('message', (event) => {
      const { wpwl, checkout, to } = event.data ?? {};
      const ours = event.origin === service && event.source === frame.contentWindow;
      if (ours && wpwl === 'done' && checkout === id) location.assign(to);
    });
    container.replaceChildren(frame, way);
  } else {
    container.append(way);
  }
  way.submit();
}
