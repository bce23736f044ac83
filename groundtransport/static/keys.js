// Keys: single ones for the list, which a person can switch off (WCAG 2.1.4), and Ctrl or Command with S for a form and with K for the search of all records.
(() => {
  const root = document.documentElement;
  const help = document.querySelector("#keys");
  const switched = document.querySelector("[data-keys] input");
  const isOn = () => root.dataset.shortcuts !== "off";

  // The row that was used last: j and k go on from there.
  let lastRow = null;
  const rows = () => [...document.querySelectorAll("#records tbody tr[id]")];
  const rowInUse = () => document.activeElement.closest("#records tbody tr[id]");
  document.addEventListener("focusin", () => {
    lastRow = rowInUse() ?? lastRow;
  });

  function move(by) {
    const all = rows();
    const from = all.indexOf(rowInUse() ?? (lastRow?.isConnected ? lastRow : null));
    const row = from < 0 ? all.at(by > 0 ? 0 : -1) : all[from + by];
    if (row && !window.inPlace?.goTo(row)) row.querySelector("a[data-view]").focus();
    row?.scrollIntoView({ block: "nearest" });
    return Boolean(all.length);
  }

  function press(selector, within = rowInUse()) {
    const found = within?.querySelector(selector);
    found?.click();
    return Boolean(found);
  }

  function search() {
    const field = document.querySelector("#q") ?? document.querySelector("#search-all");
    field?.focus();
    field?.select();
    return Boolean(field);
  }

  // Everywhere, and while somebody types, but not behind a dialog.
  function searchAll(event) {
    const field = document.querySelector("#search-all");
    if (!field || document.querySelector("dialog[open]:modal")) return;
    event.preventDefault();
    field.focus();
    field.select();
  }

  // From the selected rows to what can be done with them.
  function toActions() {
    const field = document.querySelector("#several[data-active] [name=action]");
    field?.focus();
    return Boolean(field);
  }

  // The buttons of the review queue.
  const inReview = (name) => press(`[data-review=${name}]`, document);

  // In a cell that has a field's name, the form begins at that field.
  function edit() {
    const link = rowInUse()?.querySelector("[data-action=edit]");
    if (!link) return inReview("edit");
    const field = document.activeElement.closest("td")?.className.match(/col-(\w+)/)?.[1];
    location.assign(field && field !== "select" ? `${link.href}#${field}` : link.href);
    return true;
  }

  const inRow = () => !rowInUse() || document.activeElement.closest("a, button, input");
  const KEYS = {
    i: () => window.inPlace?.open() ?? false,
    F2: () => window.inPlace?.open() ?? false,
    ArrowRight: () => window.inPlace?.step(1) ?? false,
    ArrowLeft: () => window.inPlace?.step(-1) ?? false,
    "/": search,
    n: () => press("[data-create]", document),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => rowInUse() !== null && move(1),
    ArrowUp: () => rowInUse() !== null && move(-1),
    Enter: () => !inRow() && press("a[data-view]"),
    e: edit,
    v: () => press("[data-action=verify]") || inReview("verify"),
    s: () => inReview("skip"),
    x: () => press("input[name=record]"),
    a: toActions,
    "?": () => {
      help?.showModal();
      return Boolean(help);
    },
  };
  const inDetail = (selector) => press(selector, document.querySelector("#detail"));
  const OVER_DETAIL = { e: () => inDetail("[data-edit]:not([hidden])"), v: () => inDetail("[data-verify]:not([hidden]) button"), "?": KEYS["?"] };

  function save(event) {
    const form = document.querySelector("form#record");
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("[data-save]"));
  }

  function isTyping(target) {
    const field = target.closest("input, textarea, select, [contenteditable], .in-place");
    return Boolean(field) && field.type !== "checkbox";
  }

  function keysNow() {
    const open = document.querySelector("dialog[open]");
    if (!open) return KEYS;
    return open.id === "detail" && document.querySelectorAll("dialog[open]").length === 1 ? OVER_DETAIL : {};
  }

  document.addEventListener("keydown", (event) => {
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (isCommand && event.key.toLowerCase() === "s") save(event);
    if (isCommand && event.key.toLowerCase() === "k") searchAll(event);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!isOn() || isTyping(event.target)) return;
    const now = keysNow();
    if (Object.hasOwn(now, event.key) && now[event.key]()) event.preventDefault();
  });

  // The switch, and the list of keys

  if (switched) {
    switched.checked = isOn();
    switched.addEventListener("change", () => {
      root.dataset.shortcuts = switched.checked ? "" : "off";
      prefer("shortcuts", root.dataset.shortcuts);
    });
  }
  for (const element of document.querySelectorAll("[data-keys], [data-show-keys]")) element.hidden = false;
  document.querySelector("[data-show-keys]")?.addEventListener("click", () => help.showModal());
  help?.addEventListener("click", (event) => {
    if (event.target === help) help.close();
  });
})();
