// Places that are typed: further cities and small places near the airport are offered besides its cities.
(() => {
  const TYPING = 200; // ms after the last key
  const airport = document.querySelector("[data-airports]");
  const field = document.querySelector("[data-places]");
  if (!airport || !field) return;

  const codeOf = (text) => text.match(/\(\s*([a-z0-9]{3,4})\s*\)\s*$/i)?.[1].toUpperCase() ?? "";
  let asking = new AbortController();
  let timer = 0;

  // Nothing is taken out: place.js fills the list of a city anew for another airport.
  function offer(places) {
    const known = new Set([...field.list.options].map((option) => option.value));
    const further = places.filter((place) => !known.has(place.city_name));
    field.list.append(...further.map(({ city_name: name, km }) => new Option(km === null ? "" : t("{km} km from the airport", { km }), name)));
  }

  async function look() {
    asking.abort(); // a late answer about another text counts no more
    asking = new AbortController();
    const code = codeOf(airport.value);
    const text = field.value.trim();
    if (!code || !text) return;
    try {
      offer((await ask(`/admin/airports/${code}/places?q=${encodeURIComponent(text)}`, { signal: asking.signal })).places);
    } catch {
      // It is a help, no more: the save will tell.
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, TYPING);
  });
  if (!("list" in field.dataset)) airport.addEventListener("airport", () => field.list.replaceChildren());
})();
