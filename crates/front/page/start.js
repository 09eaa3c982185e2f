// Loads the page again when a part of it was lost on the way. A lost module stops all others, so this script is none.

setTimeout(() => { if (!document.body.dataset.screen) location.reload(); }, 20000);
