// The button of a mobile wallet. It opens the simulated phone, which is a sheet in a frame of the service.

function walletButton(form, context) {
  const { words, code, container, action, purpose, extras } = context;
  const [brand] = form.brands;
  const message = element('p', { className: 'wpwl-message', role: 'alert' });
  const label = `${words.payWith} ${brand.replace('_', ' ')}`;
  const button = element('button', { type: 'submit', className: 'wpwl-button wpwl-button-wallet' });
  const own = element('form', { className: 'wpwl-form wpwl-form-wallet', noValidate: true });
  own.dataset.brands = brand;
  const wished = walletOptions(form);
  if (wished.buttonColor) button.dataset.color = wished.buttonColor;
  if (wished.placement) own.dataset.placement = wished.placement;
  own.append(...extras(), ...bought(wished), message, button);
  container.append(own);
  const say = (text) => {
    message.textContent = text;
    button.textContent = label;
    button.disabled = false;
  };
  say('');

  own.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    message.textContent = '';
    button.disabled = true;
    button.textContent = words.working;
    let id;
    try {
      id = await checkoutFor(brand);
    } catch (why) {
      console.error('paymentWidgets:', why);
      return say(words.noCheckout);
    }
    const paid = await sheet(form, id, own, words, code);
    if (!paid) return say(words.cancelled);
    const fields = [['shopperResultUrl', action], ...browserFields(), ...fieldsOf(own)];
    fields.push([`${form.wallet}.paymentToken`, paid.token]);
    const done = await post(`${service}${pathOf(id, purpose)}`, fields);
    goOn(done, { id, brand, action, purpose, say, container, words });
  });
}

// Returns the page's options for this wallet. An unknown option has no effect, and the console reports it.
function walletOptions(form) {
  const wished = options()[form.options] ?? {};
  for (const name of Object.keys(wished)) {
    if (form.names && !form.names.includes(name)) {
      console.error(`paymentWidgets: ${form.options} has no option ${JSON.stringify(name)}`);
    }
  }
  return wished;
}

// Returns the cart lines that the wallet shows: a label and a price for each item.
function bought(wished) {
  if (!Array.isArray(wished.displayItems) || wished.displayItems.length === 0) return [];
  const list = element('ul', { className: 'wpwl-wallet-items' });
  for (const item of wished.displayItems) {
    const price = [item?.price, wished.currencyCode].filter(Boolean).join(' ');
    list.append(element('li', { textContent: `${item?.label ?? ''} ${price}`.trim() }));
  }
  return [list];
}

// Returns the wallet's token if the customer and the shop's callbacks agree, or null otherwise.
async function sheet(form, id, own, words, code) {
  const wished = options()[form.options] ?? {};
  const { onPaymentDataChanged, onPaymentAuthorized } = wished;
  // Wallet C has its own language setting.
  const spoken = wished.checkoutLanguage ? textsFor({ locale: wished.checkoutLanguage }) : { words, code };
  if (typeof onPaymentDataChanged === 'function') {
    const update = await ended(onPaymentDataChanged, { callbackTrigger: 'INITIALIZE' });
    if (!update || update.error) return null;
  }
  const frame = element('iframe', {
    src: `${service}/v1/widget/frame.html`, className: 'wpwl-frame wpwl-frame-wallet',
    title: wished.merchantName ?? form.brands[0],
  });
  const channel = new MessageChannel();
  const chosen = new Promise((choose) => {
    channel.port1.onmessage = ({ data }) => {
      if (data.height) frame.height = data.height;
      if ('token' in data) choose(data.token ? data : null);
    };
  });
  frame.addEventListener('load', () => {
    const begin = {
      wpwl: 'begin', kind: 'wallet', words: spoken.words, language: spoken.code, checkout: id, wallet: form.wallet,
    };
    frame.contentWindow.postMessage(begin, service, [channel.port2]);
  }, { once: true });
  own.append(frame);
  const paid = await chosen;
  frame.remove();
  if (paid && typeof onPaymentAuthorized === 'function') {
    const data = { paymentMethodData: { tokenizationData: { type: 'PAYMENT_GATEWAY', token: paid.token } } };
    const said = await ended(onPaymentAuthorized, data);
    if (said?.transactionState !== 'SUCCESS') return null;
  }
  return paid;
}

// Returns the result of a shop's callback, or null if the callback fails.
async function ended(callback, argument) {
  try {
    return (await callback(argument)) ?? {};
  } catch (why) {
    console.error('paymentWidgets:', why);
    return null;
  }
}
