'use strict';
// This page appears in a frame of the widget after the shopper has finished there. It tells the shop's page where to
// continue. The service set the addresses, and only a page of that shop receives the message.
const said = new URL(document.currentScript.src).searchParams;
parent.postMessage({ wpwl: 'done', checkout: said.get('checkout'), to: said.get('to') }, said.get('shop'));
