// The record's form: it is sent when it can arrive, and leaving it asks first when something typed would be lost.
(() => {
  const AGAIN = 10_000; // ms after which a sending that led nowhere may be tried again, as in app.js
  const form = document.querySelector("form#record");
  if (!form) return;

  // What would be lost

  const isBox = (field) => ["radio", "checkbox"].includes(field.type);

  // The start is what the server sent, not what a browser restored into the fields.
  function atStart(field) {
    if (isBox(field)) return field.defaultChecked;
    if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
    const options = [...field.options];
    return (options.find((option) => option.defaultSelected) ?? options[0])?.value ?? "";
  }

  const now = (field) => (isBox(field) ? field.checked : field.value);
  const fields = [...form.elements].filter((field) => field.name && !["hidden", "submit"].includes(field.type));
  const start = new Map(fields.map((field) => [field, atStart(field)]));
  // A form that came back holds what was typed and never saved.
  const cameBack = "unsaved" in form.dataset;
  let leaving = false;
  let sent = false;

  const isChanged = () => cameBack || fields.some((field) => now(field) !== start.get(field));

  addEventListener("beforeunload", (event) => {
    if (!leaving && isChanged()) event.preventDefault();
  });
  addEventListener("pagehide", () => {
    if (leaving) return;
    if (isChanged()) window.draft?.keep();
    else window.draft?.forget();
  });

  // Signing out and deleting are said aloud already; undoing something else is not.
  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    const isFinal = target.getAttribute("action") === "/logout" || target.elements._method?.value === "DELETE";
    if (defaultPrevented || (target !== form && (!isFinal || target.closest("#messages")))) return;
    leaving = true;
    if (target !== form) window.draft?.forget();
  });

  // Saving and going on with the same record: the focus stays where it was.

  const FOCUS = "groundtransport.focus";
  const focused = sessionStorage.getItem(FOCUS);
  sessionStorage.removeItem(FOCUS);
  // A link may ask for a field: ".../edit#company_phone1".
  const asked = fields.find((field) => field.id && field.id === location.hash.slice(1));
  if (!document.querySelector("[data-focus]")) (focused ? form.querySelector(focused) : asked)?.focus();

  function whereItIs(submitter) {
    const { id } = document.activeElement;
    return id && form.contains(document.activeElement) ? `#${CSS.escape(id)}` : `[name="${submitter.name}"][value="${submitter.value}"]`;
  }

  // Leaving by a link

  const asking = dialog();
  let target = "";

  function dialog() {
    const made = element(
      "dialog",
      { class: "leaving", "aria-labelledby": "leaving-title" },
      element("header", {}, element("h2", { id: "leaving-title" }, t("Leave without saving?"))),
      element("div", { class: "detail-body" }, element("p", {}, t("What you typed on this page is not saved."))),
    );
    const stay = element("button", { type: "button", class: "btn btn-outline-secondary", autofocus: "" }, t("Stay"));
    const discard = element("button", { type: "button", class: "btn btn-danger" }, t("Discard"));
    const save = element("button", { type: "button", class: "btn btn-primary" }, t("Save"));
    stay.addEventListener("click", () => made.close());
    discard.addEventListener("click", () => {
      leaving = true;
      window.draft?.forget();
      location.assign(target);
    });
    save.addEventListener("click", () => {
      made.close();
      form.requestSubmit(form.querySelector("[data-save]"));
    });
    made.append(element("footer", {}, stay, discard, save));
    document.body.append(made);
    return made;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isPlain || event.defaultPrevented || link.target === "_blank" || !isChanged()) return;
    if (link.getAttribute("href").startsWith("#") || !/^https?:$/.test(link.protocol)) return;
    event.preventDefault();
    target = link.href;
    asking.showModal();
  });

  // Sending

  let busy = false;
  let passed = false;
  let shown = null; // the button that says that it is at work, and what it said before

  function showSaving(submitter) {
    const visible = !submitter || submitter.hidden ? form.querySelector(".btn-primary") : submitter;
    if (shown || visible.name === "refresh") return;
    shown = [visible, visible.textContent];
    visible.textContent = t("Saving ...");
    visible.setAttribute("aria-disabled", "true");
  }

  function showIdle() {
    busy = passed = leaving = false;
    if (!shown) return;
    const [visible, text] = shown;
    visible.textContent = text;
    visible.removeAttribute("aria-disabled");
    shown = null;
  }

  async function send(submitter) {
    if (busy) return;
    busy = true;
    showSaving(submitter);
    if (!(await presence.ready(() => send(submitter)))) return showIdle();
    passed = true;
    sent = true;
    if (submitter?.value === "edit") sessionStorage.setItem(FOCUS, whereItIs(submitter));
    window.draft?.keep();
    form.requestSubmit(submitter);
    setTimeout(showIdle, AGAIN);
  }

  form.addEventListener("submit", (event) => {
    if (passed) return void (passed = false);
    event.preventDefault();
    send(event.submitter);
  });

  addEventListener("pageshow", (event) => {
    // A form that was saved is spent: its token would lead to the record that it made, its version is an old one.
    if (event.persisted && sent && window.draft && !window.draft.find()) return location.replace(location.href);
    sent = false;
    showIdle();
  });
})();
