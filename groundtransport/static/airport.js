// The airport field as a combobox (WAI-ARIA pattern). A chosen airport is announced by the event "airport" on the field.
(() => {
  const TYPING = 200; // ms after the last key
  const field = document.querySelector("[data-airports]");
  if (!field) return;

  const codeOf = (text) => text.match(/\(\s*([a-z0-9]{3,4})\s*\)\s*$/i)?.[1].toUpperCase() ?? "";
  const list = element("ul", { id: `${field.id}-list`, role: "listbox", class: "airport-list", "aria-label": t("Airports"), hidden: "" });
  const spoken = element("div", { class: "airport-state", role: "status" });
  let asking = new AbortController();
  let timer = 0;
  let wasMoved = false; // within the open list, by an arrow key
  let known = codeOf(field.defaultValue); // the airport whose cities and states the form holds

  const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id };
  for (const [name, value] of Object.entries(attributes)) field.setAttribute(name, value);
  field.parentElement.append(list, spoken);
  for (const plain of field.form.querySelectorAll("[name=refresh], [data-airport-choices]")) plain.remove();

  // The list

  const options = () => [...list.children];
  const active = () => list.querySelector("[aria-selected=true]");

  function close() {
    clearTimeout(timer);
    asking.abort();
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function activate(option) {
    active()?.setAttribute("aria-selected", "false");
    option.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  function optionOf(airport, index) {
    const closed = airport.closed_on && t("closed");
    const place = [airport.city, airport.country_name, closed].filter(Boolean).join(", ");
    const option = element(
      "li",
      { id: `${list.id}-${index}`, role: "option", "aria-selected": "false" },
      element("span", { class: "tag" }, airport.code),
      " ",
      element("span", { class: "airport-name" }, airport.airport_name.slice(0, -6)),
      " ",
      element("span", { class: "airport-city" }, place),
    );
    option.dataset.name = airport.airport_name;
    return option;
  }

  function show({ airports, instead }) {
    wasMoved = false;
    list.replaceChildren(...airports.map(optionOf));
    list.hidden = airports.length === 0;
    field.setAttribute("aria-expanded", String(airports.length > 0));
    const count = airports.length === 1 ? t("1 airport") : t("{n} airports", { n: airports.length });
    if (instead) say(t("Did you mean {text}?", { text: instead }));
    else say(airports.length ? count : t("No airport found."), airports.length > 0);
    if (airports.length) activate(list.firstElementChild);
    else field.removeAttribute("aria-activedescendant");
  }

  // What is plain to see in the list is only spoken.
  function say(words, quietly, ...more) {
    spoken.classList.toggle("visually-hidden", Boolean(quietly));
    spoken.replaceChildren(words, ...more);
  }

  async function look() {
    asking.abort();
    asking = new AbortController();
    const text = field.value.trim();
    if (!text) return show({ airports: [] }), say("");
    try {
      const answer = await ask(`/admin/airports?q=${encodeURIComponent(text)}`, { signal: asking.signal });
      show(answer);
    } catch ({ reason }) {
      if (reason === "dropped") return;
      close();
      if (reason === "signed-out") say(t("You are signed out.") + " ", false, signInLink());
      else say(t("The airports could not be searched.") + " ", false, retryButton());
    }
  }

  const signInLink = () => element("a", { href: "/login?next=/admin/session/again", target: "_blank" }, t("Sign in in a new tab"));

  function retryButton() {
    const button = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, t("Try again"));
    button.addEventListener("click", () => {
      field.focus();
      look();
    });
    return button;
  }

  // Choosing

  function choose(option) {
    take(option.dataset.name);
  }

  function take(name) {
    field.value = name;
    close();
    say(t("{airport} chosen", { airport: name }), true);
    announce();
  }

  // A code typed whole, or all but the code, is a choice, also by who goes on before the list is there.
  const isTyped = (name, text) => [codeOf(name), name.slice(0, -6).toUpperCase()].includes(text.toUpperCase());

  async function settle() {
    const text = field.value.trim();
    if (!text || codeOf(text)) return;
    asking = new AbortController();
    try {
      const { airports } = await ask(`/admin/airports?q=${encodeURIComponent(text)}`, { signal: asking.signal });
      const [first] = airports;
      if (first && isTyped(first.airport_name, text) && field.value.trim() === text && document.activeElement !== field) take(first.airport_name);
    } catch {
      // It stays as it was typed; the save will tell.
    }
  }

  // A complete code, chosen or typed, names an airport; no code, none.
  function announce() {
    const code = codeOf(field.value);
    if (code === known) return;
    known = code;
    field.dispatchEvent(new CustomEvent("airport", { detail: code }));
  }

  function step(by) {
    const all = options();
    const next = all.indexOf(active()) + by;
    wasMoved = true;
    activate(all[(next + all.length) % all.length]);
  }

  const isOpen = () => !list.hidden;
  const onKey = {
    ArrowDown: () => (isOpen() ? step(1) : look()),
    ArrowUp: () => (isOpen() ? step(-1) : look()),
    Enter: () => isOpen() && choose(active()),
    // What nobody moved to was not chosen: "london" and Tab may mean another airport than the first of the list.
    Tab: () => isOpen() && (wasMoved || isTyped(active().dataset.name, field.value.trim())) && choose(active()),
    Escape: () => isOpen() && close(),
  };

  field.addEventListener("keydown", (event) => {
    const act = onKey[event.key];
    if (!act || event.isComposing || event.altKey) return;
    // With the list closed, Enter sends the form and Escape is the browser's.
    if (event.key !== "Tab" && (isOpen() || event.key.startsWith("Arrow"))) event.preventDefault();
    act();
  });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, TYPING);
  });
  field.addEventListener("blur", () => {
    close();
    announce();
    settle();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays in the field
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(option);
  });
  addEventListener("pageshow", announce); // a browser may have restored another airport
})();
