'use strict';
// In a frame of the widget, after the shopper has acted there: tells the page of the shop where to go on. The service has
// written the addresses; only a page of that shop hears it.
const said = new URL(document.currentScript.src).searchParams;
parent.postMessage({ wpwl: 'done', checkout: said.get('checkout'), to: said.get('to') }, said.get('shop'));
