// A widget form whose fields are in a frame of the service, so scripts on the shop's page cannot read them.

function frameForm(form, context) {
  const { words, code, container, action, purpose, extras } = context;
  const frame = element('iframe', {
    src: `${service}/v1/widget/frame.html`, className: `wpwl-frame wpwl-frame-${form.kind}`, title: words.paymentFrame,
  });
  const message = element('p', { className: 'wpwl-message', role: 'alert' });
  const button = element('button', { type: 'submit', className: 'wpwl-button wpwl-button-pay', disabled: true });
  const own = element('form', { className: `wpwl-form wpwl-form-${form.kind}`, noValidate: true });
  own.dataset.brands = form.brands.join(' ');
  own.append(pictures(form.brands), frame, ...extras(), message, button);
  container.append(own);

  const channel = new MessageChannel();
  let waiting = null;
  const ask = (asked) => new Promise((answer) => {
    waiting = answer;
    channel.port1.postMessage(asked);
  });
  channel.port1.onmessage = ({ data }) => {
    if (data.ready) button.disabled = false;
    else if (data.height) frame.height = data.height;
    else if (data.enter) own.requestSubmit();
    else waiting?.(data);
  };
  frame.addEventListener('load', () => {
    const begin = { wpwl: 'begin', kind: form.kind, words, language: code };
    frame.contentWindow.postMessage(begin, service, [channel.port2]);
  }, { once: true });

  const idle = () => {
    const amount = options().checkout?.amount;
    button.textContent = amount === undefined ? words.payNow : `${words.payNow} ${amount}`;
    button.disabled = false;
  };
  const say = (text) => {
    message.textContent = text;
    idle();
  };
  idle();
  button.disabled = true;

  own.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    message.textContent = '';
    button.disabled = true;
    button.textContent = words.working;
    const checked = await ask({ ask: 'check' });
    if (!checked.valid) return say(`${words.wrong} ${checked.wrong.join(', ')}`);
    const brand = form.kind === 'card' ? checked.brand : form.brands[0];
    if (!form.brands.includes(brand)) return say(words.brandNotTaken);
    if (form.kind === 'card' && stopped(event)) return say(words.notBegun);
    let id;
    try {
      id = await checkoutFor(brand);
    } catch (why) {
      console.error('paymentWidgets:', why);
      return say(words.noCheckout);
    }
    const fields = [['shopperResultUrl', action], ...browserFields(), ...fieldsOf(own)];
    if (brand !== 'GIFTCARD') fields.push(['paymentBrand', brand]);
    const done = await ask({ ask: 'pay', path: pathOf(id, purpose), fields });
    goOn(done, { id, brand, action, purpose, say, container, words });
  });
}

// Checks whether the shop's callback stops the submission of the card form.
function stopped(event) {
  const before = options().onBeforeSubmitCard;
  if (typeof before !== 'function') return false;
  try {
    return before(event) === false;
  } catch (why) {
    console.error('paymentWidgets: onBeforeSubmitCard:', why);
    return true;
  }
}

function pictures(brands) {
  const picture = (brand) => element('img', { src: `${service}/v1/widget/${brand}.svg`, alt: brand, className: 'wpwl-brand' });
  return element('p', { className: 'wpwl-brands' }, ...brands.map(picture));
}

// Returns the merchant's additional fields from the form, without empty ones.
function fieldsOf(own) {
  return [...new FormData(own)].filter(([, value]) => typeof value === 'string' && value !== '');
}
