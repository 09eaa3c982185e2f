// The shopper's language, and the shop's replacement texts. This file is part of one function: see mod.rs.

// The widget's languages have the interface's codes (behaviour: Hosted widget usage, 3). These are the language tags
// (BCP 47) for the codes that differ.
const TAGS = { dk: 'da', se: 'sv', cz: 'cs', cn: 'zh-Hans', gr: 'el', no: 'nb' };

// Returns the code itself, or the language code before the country ('de-AT', 'de_AT'). Returns English for an unknown
// language.
function language(asked) {
  const code = String(asked ?? 'en').toLowerCase().split(/[-_]/)[0];
  if (Object.hasOwn(TEXTS, code)) return code;
  console.warn(`paymentWidgets: no language ${JSON.stringify(asked)}; the texts are English`);
  return 'en';
}

// The merchant's texts replace the widget's.
function textsFor(options) {
  const code = language(options.locale ?? options.language);
  const direction = code === 'ar' ? 'rtl' : 'ltr';
  return { code: TAGS[code] ?? code, direction, words: { ...TEXTS[code], ...options.labels } };
}
