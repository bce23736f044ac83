// Every page: where the focus begins, messages that are spoken, times in the reader's zone, one submit at a time, and what a person prefers.
(() => {
  document.querySelector("[data-focus]")?.focus();

  // The answer to a POST has no address to come back to, and Back would ask whether to send it all again.
  const posted = document.querySelector("[data-url]");
  if (posted) history.replaceState(history.state, "", posted.dataset.url);

  // Messages: a live region speaks of what comes into it, not of what it held from the start. So they come in once more.

  const SPOKEN = 150; // ms; a screen reader has seen the empty region by then
  const messages = document.querySelector("#messages");
  const told = [...messages.children];
  for (const message of told) message.append(dismissal(message));
  if (told.some((message) => message.matches(".success"))) sessionStorage.removeItem("groundtransport.draft"); // it arrived
  if (told.length) {
    messages.style.minHeight = `${messages.offsetHeight}px`; // nothing moves meanwhile
    messages.replaceChildren();
    setTimeout(() => {
      messages.append(...told);
      messages.style.minHeight = "";
      messages.querySelector("[data-focus]")?.focus();
    }, SPOKEN);
  }

  // Show messages of an answer that a script asked for, in place of those before.
  window.showMessages = (answered) => {
    for (const message of answered) message.append(dismissal(message));
    messages.replaceChildren(...answered);
  };

  // They stay in view; what scrolls to a place of the page leaves them their room, and so does what has the focus.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--messages-height", `${messages.offsetHeight}px`);
    const focused = document.activeElement;
    const { top, bottom } = focused.getBoundingClientRect();
    const isInView = bottom > 0 && top < innerHeight && !messages.contains(focused) && focused !== document.body;
    if (isInView) focused.scrollIntoView({ block: "nearest" });
  }).observe(messages);

  function dismissal(message) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn-close";
    button.setAttribute("aria-label", t("Dismiss"));
    button.addEventListener("click", () => {
      message.remove();
      const next = messages.querySelector(".btn-close") ?? document.querySelector("#records tr[aria-current] a[data-view]");
      (next ?? document.querySelector("#main")).focus({ preventScroll: true });
    });
    return button;
  }

  // Menus: Escape closes one and goes back to its button; a click elsewhere closes it, too.
  for (const menu of document.querySelectorAll("details.menu")) {
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      event.stopPropagation(); // it closes nothing else
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!menu.contains(target)) menu.open = false;
    });
  }

  // Times

  const { lang } = document.documentElement;
  const day = new Intl.DateTimeFormat(lang, { dateStyle: "medium" });
  const hour = new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

  window.showTime = (time) => {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) return;
    time.title = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
    time.textContent = `${day.format(at)}, ${hour.format(at)}`;
  };
  for (const time of document.querySelectorAll("time[datetime]:not([data-day])")) showTime(time);

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

  // Light or dark: at once, and without leaving a form that is being filled in.

  const themes = document.querySelector("form[data-themes]");
  themes?.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const chosen = event.submitter;
    document.documentElement.dataset.theme = chosen.value;
    for (const button of themes.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
    prefer("theme", chosen.value);
  });

  // What a person chooses on the way is kept with their account, without leaving the page.

  window.prefer = (name, value) => {
    const token = document.querySelector("[name=csrf_token]")?.value ?? "";
    const body = new URLSearchParams({ [name]: value, csrf_token: token });
    const headers = { "X-Requested-With": "XMLHttpRequest" };
    // What cannot be kept holds for this page all the same.
    fetch("/admin/profile/preferences", { method: "POST", body, headers, redirect: "manual" }).catch(() => {});
  };
})();
