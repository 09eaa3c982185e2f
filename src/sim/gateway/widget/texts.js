// What the shopper reads, and in which language. Parts of one function: see mod.rs.

// The widget's languages, by the codes of the interface (behaviour: Hosted widget usage, 3).
const LANGUAGES = (
  'en de fr es it nl dk fi se tr ja sl pt pl cz hu bg ro ru cn gr no sk ar ko'
).split(' ');

const TEXTS = {
  en: {
    accountId: 'Account (e-mail)', bic: 'BIC', cancel: 'Cancel', cardHolder: 'Name on the card', cardNumber: 'Card number',
    cvv: 'Security code', expiry: 'Expiry (MM/YY)', giftNumber: 'Gift card number', giftPin: 'PIN', holder: 'Account holder',
    iban: 'IBAN', payNow: 'Pay now', payWith: 'Pay with', working: 'Please wait …', paymentFrame: 'Payment details',
    wrong: 'Please correct:', brandNotTaken: 'This card is not accepted here.', required: 'This field is required.',
    refused: 'This cannot be paid as it is:', unreachable: 'The payment service cannot be reached. Nothing was paid.',
    noCheckout: 'The shop could not begin the payment. Nothing was paid.', notBegun: 'The payment was not started.',
    cancelled: 'You have cancelled the payment.', busy: 'The payment service is busy. Please try again.',
  },
  de: {
    accountId: 'Konto (E-Mail)', bic: 'BIC', cancel: 'Abbrechen', cardHolder: 'Name auf der Karte', cardNumber: 'Kartennummer',
    cvv: 'Prüfnummer', expiry: 'Gültig bis (MM/JJ)', giftNumber: 'Nummer der Geschenkkarte', giftPin: 'PIN', holder: 'Kontoinhaber',
    iban: 'IBAN', payNow: 'Jetzt zahlen', payWith: 'Zahlen mit', working: 'Bitte warten …', paymentFrame: 'Zahlungsdaten',
    wrong: 'Bitte berichtigen:', brandNotTaken: 'Diese Karte wird hier nicht angenommen.', required: 'Bitte ausfüllen.',
    refused: 'So kann nicht gezahlt werden:', unreachable: 'Der Zahlungsdienst ist nicht erreichbar. Es wurde nichts gezahlt.',
    noCheckout: 'Der Shop konnte die Zahlung nicht beginnen. Es wurde nichts gezahlt.', notBegun: 'Die Zahlung wurde nicht begonnen.',
    cancelled: 'Sie haben die Zahlung abgebrochen.', busy: 'Der Zahlungsdienst ist überlastet. Bitte noch einmal versuchen.',
  },
  fr: {
    accountId: 'Compte (e-mail)', bic: 'BIC', cancel: 'Annuler', cardHolder: 'Nom sur la carte', cardNumber: 'Numéro de carte',
    cvv: 'Code de sécurité', expiry: "Date d'expiration (MM/AA)", giftNumber: 'Numéro de la carte cadeau', giftPin: 'Code', holder: 'Titulaire du compte',
    iban: 'IBAN', payNow: 'Payer', payWith: 'Payer avec', working: 'Veuillez patienter …', paymentFrame: 'Données de paiement',
    wrong: 'Veuillez corriger :', brandNotTaken: "Cette carte n'est pas acceptée ici.", required: 'Ce champ est obligatoire.',
    refused: 'Le paiement est impossible ainsi :', unreachable: "Le service de paiement est injoignable. Rien n'a été payé.",
    noCheckout: "La boutique n'a pas pu commencer le paiement. Rien n'a été payé.", notBegun: "Le paiement n'a pas commencé.",
    cancelled: 'Vous avez annulé le paiement.', busy: 'Le service de paiement est occupé. Veuillez réessayer.',
  },
  es: {
    accountId: 'Cuenta (correo electrónico)', bic: 'BIC', cancel: 'Cancelar', cardHolder: 'Nombre en la tarjeta', cardNumber: 'Número de tarjeta',
    cvv: 'Código de seguridad', expiry: 'Caducidad (MM/AA)', giftNumber: 'Número de la tarjeta regalo', giftPin: 'PIN', holder: 'Titular de la cuenta',
    iban: 'IBAN', payNow: 'Pagar', payWith: 'Pagar con', working: 'Espere, por favor …', paymentFrame: 'Datos de pago',
    wrong: 'Corrija, por favor:', brandNotTaken: 'Esta tarjeta no se acepta aquí.', required: 'Este campo es obligatorio.',
    refused: 'Así no se puede pagar:', unreachable: 'No se puede contactar con el servicio de pago. No se ha pagado nada.',
    noCheckout: 'La tienda no pudo iniciar el pago. No se ha pagado nada.', notBegun: 'El pago no se ha iniciado.',
    cancelled: 'Ha cancelado el pago.', busy: 'El servicio de pago está ocupado. Inténtelo de nuevo.',
  },
  it: {
    accountId: 'Conto (e-mail)', bic: 'BIC', cancel: 'Annulla', cardHolder: 'Nome sulla carta', cardNumber: 'Numero della carta',
    cvv: 'Codice di sicurezza', expiry: 'Scadenza (MM/AA)', giftNumber: 'Numero della carta regalo', giftPin: 'PIN', holder: 'Intestatario del conto',
    iban: 'IBAN', payNow: 'Paga ora', payWith: 'Paga con', working: 'Attendere …', paymentFrame: 'Dati di pagamento',
    wrong: 'Si prega di correggere:', brandNotTaken: 'Questa carta non è accettata qui.', required: 'Campo obbligatorio.',
    refused: 'Così non si può pagare:', unreachable: 'Il servizio di pagamento non è raggiungibile. Non è stato pagato nulla.',
    noCheckout: 'Il negozio non ha potuto iniziare il pagamento. Non è stato pagato nulla.', notBegun: 'Il pagamento non è iniziato.',
    cancelled: 'Ha annullato il pagamento.', busy: 'Il servizio di pagamento è occupato. Riprovi.',
  },
};

// The code itself, or the language before its country ('de-AT', 'de_AT'); English where there are no texts.
function language(asked) {
  const code = String(asked ?? 'en').toLowerCase().split(/[-_]/)[0];
  if (!LANGUAGES.includes(code)) console.warn(`paymentWidgets: no language ${JSON.stringify(asked)}; the texts are English`);
  return TEXTS[code] ? code : 'en';
}

// The merchant's words win over ours.
function textsFor(options) {
  const code = language(options.locale ?? options.language);
  return { code, words: { ...TEXTS[code], ...options.labels } };
}
