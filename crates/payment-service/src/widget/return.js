'use strict';
// This page is in a frame of the widget, after the shopper has acted there. It tells the shop's page where to continue.
// The service has set the addresses, and only a page of that shop gets the message.
const said = new URL(document.currentScript.src).searchParams;
parent.postMessage({ wpwl: 'done', checkout: said.get('checkout'), to: said.get('to') }, said.get('shop'));
