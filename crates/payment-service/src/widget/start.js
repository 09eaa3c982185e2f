// Replaces the merchant's forms with the widget.

// Replaces a merchant's form with the widget's forms, which keep its action and its fields.
function draw(merchants) {
  const { code, direction, words } = textsFor(options());
  const style = options().style ?? 'card';
  const container = element('div', { className: `wpwl-container wpwl-style-${style}`, lang: code, dir: direction });
  const action = new URL(merchants.getAttribute('action') ?? '', document.baseURI).href;
  const purpose = merchants.dataset.purpose === 'registration' ? 'registration' : 'payment';
  const given = [...merchants.children];
  const extras = () => given.map((child) => child.cloneNode(true));
  const forms = formsFor((merchants.dataset.brands ?? '').split(/\s+/).filter(Boolean));
  merchants.replaceWith(container);
  if (forms.length === 0) console.error('paymentWidgets: data-brands lists no brand');
  for (const form of forms) {
    const context = { words, code, container, action, purpose, extras };
    if (form.wallet) walletButton(form, context);
    else frameForm(form, context);
  }
}

function start() {
  if (options().style !== 'none') {
    document.head.append(element('link', { rel: 'stylesheet', href: `${service}/v1/widget/widget.css` }));
  }
  const forms = document.querySelectorAll('form.paymentWidgets');
  // A browser removes nested forms before any script can see them.
  if (forms.length === 0) console.error('paymentWidgets: no <form class="paymentWidgets">; is it inside another form?');
  forms.forEach(draw);
}

if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start);
else start();
