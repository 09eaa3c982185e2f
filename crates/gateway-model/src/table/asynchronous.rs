//! Payments that are completed later: redirects and notifications (interface: Asynchronous payments, Webhook
//! notification body).

use super::{AMOUNT, Binds, Call, Format, ID, Section, an, c, letters, o, one_of, r, section};

pub(super) const REQUEST: Section = section(
    "asynchronous",
    "Asynchronous payments",
    &[
        c("shopperResultUrl", Format::Url(6, 2048), "address to which the customer returns with the result"),
        o("notificationUrl", Format::UrlPart(6, 2048), "deprecated: webhooks replace it"),
    ],
);

pub(super) const RESPONSE: Section = section(
    "asynchronous",
    "Asynchronous payments",
    &[
        c("redirect.url", an(2048), "address to which the customer must be redirected"),
        c("redirect.parameters[n].name", an(255), "name of a parameter for redirect.url"),
        c("redirect.parameters[n].value", an(255), "value of that parameter"),
    ],
)
.response();

pub(super) const WEBHOOK: Section = section(
    "webhook",
    "Webhook notification body",
    &[
        r("type", one_of(&["PAYMENT", "REGISTRATION"]), "what the notification is about"),
        c("action", one_of(&["CREATED", "UPDATED", "DELETED"]), "what happened to the payment or registration"),
        r("payload", Format::Json, "the payment or registration, as in the gateway's answer"),
        c("presentationAmount", AMOUNT, "amount that the customer saw"),
        c("presentationCurrency", letters(3), "currency of presentationAmount"),
        c("referencedId", ID, "payment that a capture or refund refers to"),
    ],
)
.response()
.of(Call::Webhook)
.binds(Binds::Always(&[Call::Webhook]));
