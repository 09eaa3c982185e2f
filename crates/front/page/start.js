// Loads the page again when a module was lost on the way. A lost module stops all others, so this script is none.

setTimeout(() => { if (!document.body.dataset.loaded) location.reload(); }, 20000);
