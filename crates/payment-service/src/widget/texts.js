// The shopper's language, and the shop's replacement texts. This file is one part of a function that mod.rs assembles.

// The widget uses the interface's language codes (behaviour: Hosted widget usage, 3). Where a code differs from its
// language tag (BCP 47), this table contains the tag.
const TAGS = { dk: 'da', se: 'sv', cz: 'cs', cn: 'zh-Hans', gr: 'el', no: 'nb' };

// Returns the language code without a country ('de-AT', 'de_AT'). Returns English for an unknown language.
function language(asked) {
  const code = String(asked ?? 'en').toLowerCase().split(/[-_]/)[0];
  if (Object.hasOwn(TEXTS, code)) return code;
  console.warn(`paymentWidgets: no language ${JSON.stringify(asked)}; the texts are English`);
  return 'en';
}

// Returns the widget's texts, with the merchant's labels in place of the widget's.
function textsFor(options) {
  const code = language(options.locale ?? options.language);
  const direction = code === 'ar' ? 'rtl' : 'ltr';
  return { code: TAGS[code] ?? code, direction, words: { ...TEXTS[code], ...options.labels } };
}
