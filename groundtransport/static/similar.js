// While somebody types: is the company at this airport already? The records that may be the same are named, with links.
(() => {
  const TYPING = 500; // ms after the last key
  const form = document.querySelector("form#record[data-kind]");
  const place = form?.querySelector("[data-similar]");
  if (!place) return;

  const airport = form.elements.airport_name;
  const known = [...form.querySelectorAll("[type=tel], [inputmode=url]")];
  const label = form.elements[place.dataset.labelField];
  if (label && !known.includes(label)) known.unshift(label);
  let asking = new AbortController();
  let timer = 0;
  let shown = place.textContent.trim();

  function item({ label, more, reasons, href }) {
    const apart = element("span", { class: "visually-hidden" }, " " + t("(opens in a new tab)"));
    const link = element("a", { href, target: "_blank", rel: "noopener" }, label, apart);
    return element("li", {}, link, more ? ` · ${more}` : "", " ", element("span", { class: "reasons" }, reasons));
  }

  function show(similar) {
    const told = JSON.stringify(similar);
    if (told === shown) return; // what is told already is not told again
    shown = told;
    if (!similar.length) return place.replaceChildren();
    const heading = element("p", { class: "mb-1" }, t("At this airport there is already:"));
    place.replaceChildren(element("div", { class: "message warning" }, heading, element("ul", { class: "mb-0" }, ...similar.map(item))));
  }

  async function look() {
    clearTimeout(timer);
    asking.abort(); // a late answer about something else counts no more
    asking = new AbortController();
    const query = new URLSearchParams({ airport_name: airport.value });
    for (const field of known) if (field.value.trim()) query.set(field.name, field.value.trim());
    if (place.dataset.id) query.set("id", place.dataset.id);
    try {
      show((await ask(`${form.dataset.kind}/similar?${query}`, { signal: asking.signal })).similar);
    } catch {
      // It is a help, no more: the save will tell.
    }
  }

  for (const field of known) {
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, TYPING);
    });
  }
  airport.addEventListener("airport", () => known.some((field) => field.value.trim()) && look());
})();
