// In which language the shopper reads, and the shop's own words. Parts of one function: see mod.rs.

// The widget's languages are those of the interface, by its own codes (behaviour: Hosted widget usage, 3). Where a code
// is not the tag of its language (BCP 47), this is the tag.
const TAGS = { dk: 'da', se: 'sv', cz: 'cs', cn: 'zh-Hans', gr: 'el', no: 'nb' };

// The code itself, or the language before its country ('de-AT', 'de_AT'); English where there is no such language.
function language(asked) {
  const code = String(asked ?? 'en').toLowerCase().split(/[-_]/)[0];
  if (Object.hasOwn(TEXTS, code)) return code;
  console.warn(`paymentWidgets: no language ${JSON.stringify(asked)}; the texts are English`);
  return 'en';
}

// The merchant's words win over ours.
function textsFor(options) {
  const code = language(options.locale ?? options.language);
  const direction = code === 'ar' ? 'rtl' : 'ltr';
  return { code: TAGS[code] ?? code, direction, words: { ...TEXTS[code], ...options.labels } };
}
