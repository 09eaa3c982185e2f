// The parts that work only with a connection: the customer's screen, paired devices, the doctor's findings, the payouts
// of tills, and the question for a supervisor's PIN.
// `terminal.js` loads this file when one of them is needed, and gives it the modules that it needs.

/** The version of the page to which this file belongs. */
export const version = "@VERSION@";

/** The words that stand before the token in the address of a link. */
const LINK = "#pair=";
/** The pause between two looks for a device that was paired. */
const LOOK_MS = 2000;
/** The limit for the doctor, in ms. The front gives up earlier. */
const DOCTOR_MS = 130000;
/** The names of systems, as they are in the browser's own description, with the name that is proposed for a device. */
const SYSTEMS = [["iPhone"], ["iPad"], ["Android"], ["Windows"], ["Mac OS", "Mac"], ["Linux"]];

/** Builds the parts with these modules of the page. */
export function support({ api, dom, failure, pinPad, toApprove, words }) {
  const { button, closer, dialog, fill, folded, h, icon, qr, text } = dom;
  const { day, money, t } = words;
  const alert = () => h("p", { class: "wrong", role: "alert" });
  /** Returns the words for a refusal; `known` has those that only these parts need. */
  const wordsOf = (error, known) => (known[error.code] ? t(known[error.code]) : failure(error));

  /**
   * Asks a supervisor to confirm one command. Resolves to the approval for the request, or null. The supervisor sees and
   * confirms the terminal's result for the command.
   */
  function askSupervisor(page, { reference, request, problem }) {
    const { exponent, currency } = page.settings();
    const command = toApprove(reference, request, problem?.toConfirm, exponent);
    const of = problem?.toConfirm?.number ? t("supervisor.of", { number: problem.toConfirm.number }) : command.of ?? "";
    const what = [t(`do.${command.kind}`, { amount: money(command.amount, command.currency ?? currency) }), of, command.tip && t("supervisor.tip")];
    return supervisor(what, async (operator, pin) => (await api.post("/v1/approvals", { operator, pin, for: command })).approval);
  }

  /** Asks for a supervisor's name and PIN. Resolves to the result of `send`, or null. */
  async function supervisor(what, send) {
    let found = [];
    let length = null;
    try {
      const { operators, pinDigits } = await api.get("/v1/operators");
      found = operators.filter((one) => one.role === "supervisor");
      length = pinDigits;
    } catch { /* the supervisor types the name */ }
    return dialog(t("supervisor.title"), (close) => {
      const said = h("p", { class: "wrong", role: "alert" });
      let chosen = found.length === 1 ? found[0].name : "";
      const typed = h("input", { id: "supervisor-name", type: "text", autocomplete: "off", "data-first": true });
      const names = found.map((one) => h("button", { "data-operator": one.name, "aria-pressed": String(one.name === chosen), onclick: () => choose(one.name) }, one.name));
      function choose(name) {
        chosen = name;
        names.forEach((one) => one.setAttribute("aria-pressed", String(one.getAttribute("data-operator") === chosen)));
        pad.el.focus();
      }
      const pad = pinPad(t("supervisor.confirm"), async (pin) => {
        const operator = names.length ? chosen : typed.value.trim();
        if (!operator) return text(said, t("supervisor.choose"));
        close(await send(operator, pin));
      }, said, length);
      if (names.length) pad.el.setAttribute("data-first", "");
      pad.el.addEventListener("keydown", (event) => { if (pad.press(event)) event.preventDefault(); });
      return [h("p", { id: "supervisor-what" }, what.filter(Boolean).join(" · ")), ...(names.length ? [h("div", { class: "tabs", id: "supervisor-name", role: "group", "aria-label": t("supervisor.name") }, names)] : [h("label", { for: "supervisor-name" }, t("supervisor.name")), typed]), pad.el, said, button("close", t("no"), () => { pad.leave(); close(null); }, { class: "quiet" })];
    }, "supervisor");
  }

  /** Returns the bar of the first payout that waits for a supervisor; null if none does. */
  async function payoutBar() {
    const one = await firstPayout();
    return one && ["warn", payoutWords(one), [t("payout.look"), confirmPayout]];
  }
  const firstPayout = async () => (await api.get("/front/payouts", { ms: LOOK_MS }).catch(() => null))?.payouts[0] ?? null;
  const payoutWords = ({ till, amount, currency }) => t("payout.bar", { till, amount: money(amount, currency) });
  /** Asks a supervisor about the first payout. Closing the question refuses it, so the till does not wait. */
  async function confirmPayout() {
    const one = await firstPayout();
    if (!one) return;
    const path = `/front/payouts/${encodeURIComponent(one.reference)}`;
    const send = async (operator, pin) => { await api.post(path, { operator, pin }); return true; };
    if (!await supervisor([payoutWords(one)], send)) await api.ask("DELETE", path).catch(() => { /* it waits no more */ });
  }

  /** Builds the part that opens the customer's screen, on this device or on another one. */
  function customerPart() {
    const wrong = alert();
    const ask = button("person", t("customers-screen.title"), pair, { id: "customer" });
    async function pair() {
      ask.setAttribute("aria-disabled", "true");
      text(wrong, "");
      try {
        const { address, code } = await api.post("/front/customer/pair", {});
        // Other devices cannot reach an address of this board alone.
        await show(address, /^(localhost|127\.|\[::1\]$)/.test(location.hostname) ? null : code);
      } catch (error) { text(wrong, failure(error)); }
      ask.removeAttribute("aria-disabled");
    }
    const show = (address, code) => dialog(t("customers-screen.title"), (close) => [
      code && h("p", {}, t("customers-screen.scan")), code && h("div", { class: "picture" }, qr(code, t("customers-screen.scan"))),
      h("div", { class: "answers" },
        button("terminal", t("customers-screen.open"), () => { open(address, "customer"); close(null); }, { class: "primary", id: "customer-open" }),
        closer(close, "close", { id: "close" }))]);
    return h("div", { class: "pairing" }, h("p", { class: "hint" }, t("customers-screen.about")), ask, wrong);
  }

  /** Builds the part with the paired devices. It is hidden where devices are not paired. */
  function devicesPart() {
    const wrong = alert();
    const told = h("p", { role: "status" });
    const list = h("ul", { class: "list" });
    const add = button("qr", t("devices.open"), () => link(), { id: "browser-open" });
    const el = h("div", { class: "pairing", id: "browser-pair" }, h("h2", {}, t("devices.title")), list, add, told, wrong);
    /** Reads the devices and shows them. Returns them. */
    async function read() {
      const { browsers } = await api.get("/front/browsers");
      // A person has typed the name: `bdi` keeps its writing direction from changing the text next to it.
      fill(list, browsers.map((one) => h("li", { class: "line" }, h("span", {}, h("bdi", {}, one.name), ` · ${day(one.since)}`, one.own && ` · ${t("devices.own")}`),
        button("close", t("devices.remove"), () => remove(one), { class: "quiet", "data-remove": one.id }))));
      return browsers;
    }
    async function tried(act) {
      text(wrong, "");
      text(told, "");
      try { await act(); } catch (error) { text(wrong, wordsOf(error, { "no-such-browser": "devices.gone" })); }
    }
    const remove = (one) => tried(async () => {
      const sure = await dialog(t("devices.sure", { name: one.name }), (close) => h("div", { class: "answers" },
        button("close", t("devices.remove"), () => close(true), { class: "primary", id: "browser-remove" }), closer(close)));
      if (!sure) return;
      await api.ask("DELETE", `/front/browsers/${one.id}`);
      await read();
    });
    const link = () => tried(async () => {
      const before = (await read()).map((one) => one.id);
      const made = await api.post("/front/browser/open", {});
      let timer = null;
      const added = await dialog(t("devices.open"), (close) => {
        const ends = performance.now() + made.goodForS * 1000;
        async function look() {
          try {
            const found = (await read()).find((one) => !before.includes(one.id));
            if (found) return close(found.name);
          } catch { /* looks again */ }
          if (performance.now() > ends) close(null);
          else if (timer !== null) timer = setTimeout(look, LOOK_MS);
        }
        timer = setTimeout(look, LOOK_MS);
        // The text comes before the code in a column and stands beside it in a row, so the warning is known before it is seen.
        return [h("div", { class: "pairing" },
          h("p", {}, t("devices.scan")), h("p", {}, t("devices.warns")),
          h("ul", { class: "list" }, ["android", "apple"].map((one) => h("li", {}, t(`devices.${one}`)))),
          h("details", {}, h("summary", {}, t("devices.avoid")),
            h("a", { class: "hint", href: "/front/certificate.pem", download: "pos-front.pem" }, t("devices.install")),
            h("p", {}, t("devices.fingerprint", made)))),
        h("div", { class: "picture" }, qr(made.code, t("devices.scan")), closer(close, "close", { id: "close" }))];
      }, "device");
      clearTimeout(timer);
      timer = null;
      if (added) text(told, t("devices.paired", { name: added }));
    });
    tried(read);
    return el;
  }

  /** Builds the part with the doctor's findings: the faults first, each with its remedy. */
  function doctorPart() {
    const said = h("p", { role: "status" });
    const list = h("ul", { class: "parts" });
    const others = h("div", {});
    const ask = button("search", t("doctor.look"), look, { id: "doctor-look" });
    const row = ({ severity, seen, remedy }) => h("li", { class: "part", "data-level": severity === "fault" ? "bad" : "soon" },
      icon(severity === "fault" ? "declined" : "question"), h("div", {}, h("p", {}, seen), h("p", { class: "detail" }, remedy)));
    async function look() {
      ask.setAttribute("aria-disabled", "true");
      text(said, t("doctor.looking"));
      fill(list);
      fill(others);
      try {
        const { findings } = await api.get("/front/doctor", { ms: DOCTOR_MS });
        const of = (severity) => findings.filter((one) => one.severity === severity);
        const bad = [...of("fault"), ...of("warning")];
        text(said, bad.length ? "" : t("doctor.well"));
        fill(list, bad.map(row));
        fill(others, folded([...of("note"), ...of("ok")].map((one) => `${one.probe}: ${one.seen}`).join("\n")));
      } catch (error) {
        text(said, wordsOf(error, { "no-doctor": "doctor.none", "doctor-busy": "doctor.busy" }));
        fill(others, error.code === "no-doctor" && folded(error.message));
      }
      ask.removeAttribute("aria-disabled");
    }
    return h("div", { class: "pairing", id: "doctor" }, h("h2", {}, t("doctor.title")), ask, said, list, others);
  }

  /** Pairs this browser, if its address is a link. The token leaves the address before anything else happens. */
  async function pairThis() {
    if (!location.hash.startsWith(LINK)) return;
    const token = location.hash.slice(LINK.length);
    history.replaceState(null, "", location.pathname);
    const system = SYSTEMS.find(([name]) => navigator.userAgent.includes(name)) ?? [""];
    const done = await dialog(t("devices.this"), (close) => {
      const wrong = alert();
      const name = h("input", { id: "browser-name", type: "text", maxlength: "40", autocomplete: "off", value: system[1] ?? system[0], "data-first": true });
      async function pair() {
        text(wrong, "");
        try {
          await api.post("/front/browser", { token, name: name.value.trim() });
          close(true);
        } catch (error) {
          text(wrong, wordsOf(error, { "wrong-link": "devices.wrong", malformed: "devices.name", "too-many-browsers": "devices.full" }));
        }
      }
      dom.onEnter(name, pair);
      return [h("label", { for: "browser-name" }, t("devices.name")), name, wrong,
        h("div", { class: "answers" }, button("approved", t("devices.this"), pair, { class: "primary", id: "browser-this" }), closer(close))];
    });
    if (done) location.reload();
  }
  return { askSupervisor, customerPart, devicesPart, doctorPart, pairThis, payoutBar };
}
