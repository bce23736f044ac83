// Every page: where the focus begins, times in the reader's zone, one submit at a time, and a few keys.
(() => {
  const KEYS_OFF = "groundtransport.keys-off";

  document.querySelector("[data-focus]")?.focus();

  // Times

  const two = (number) => String(number).padStart(2, "0");

  function local(at) {
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
    return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }

  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
    time.textContent = local(at);
  }

  // A second click must not send a form twice.

  const AGAIN = 10_000; // ms after which a sending that led nowhere may be tried again
  const lock = (form, locked) => {
    form.toggleAttribute("data-sent", locked);
    for (const button of form.querySelectorAll("button:not([type=button])")) button.disabled = locked;
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.hasAttribute("data-sent")) event.preventDefault();
    if (event.defaultPrevented) return;
    form.setAttribute("data-sent", "");
    setTimeout(() => lock(form, true)); // later: a button disabled now would not be sent with the form
    setTimeout(() => lock(form, false), AGAIN);
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) lock(form, false);
  });

  // Keys

  const keys = document.querySelector("[data-keys]");
  const switched = keys?.querySelector("input");
  if (keys) {
    keys.hidden = !document.querySelector("#q");
    switched.checked = !localStorage.getItem(KEYS_OFF);
    switched.addEventListener("change", () => {
      if (switched.checked) localStorage.removeItem(KEYS_OFF);
      else localStorage.setItem(KEYS_OFF, "1");
    });
  }

  function save(event) {
    const form = document.querySelector("form#record");
    if (!form) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("[data-save]"));
  }

  function search(event) {
    const field = document.querySelector("#q");
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (!field || !switched?.checked || isTyping || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    field.focus();
    field.select();
  }

  document.addEventListener("keydown", (event) => {
    const withControl = event.ctrlKey || event.metaKey;
    if (withControl && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "s") save(event);
    if (!withControl && !event.altKey && event.key === "/") search(event);
  });
})();
