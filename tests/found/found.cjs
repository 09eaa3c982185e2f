// Finds a terminal with bonjour-service, and prints the first one as JSON.
const { Bonjour } = require("bonjour-service");

const bonjour = new Bonjour();
const late = setTimeout(() => {
  console.error("no terminal was found within 15 s");
  process.exit(1);
}, 15_000);
bonjour.find({ type: "pos-agent", protocol: "tcp" }, ({ name, host, port, addresses, txt }) => {
  clearTimeout(late);
  console.log(JSON.stringify({ name, host, port, addresses, txt }));
  bonjour.destroy(() => process.exit(0));
});
