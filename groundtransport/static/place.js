// City and state follow the airport: when airport.js announces one, their lists are filled with what lies there.
(() => {
  const field = document.querySelector("[data-airports]");
  const cities = document.querySelector("[data-list=cities]");
  const states = document.querySelector("[data-list=states]");
  const note = document.querySelector("[data-city-note]");
  if (!field || !cities || !note) return;

  const isSelect = cities instanceof HTMLSelectElement;
  let asking = new AbortController();

  cities.setAttribute("aria-describedby", [cities.getAttribute("aria-describedby"), note.id].filter(Boolean).join(" "));

  const option = (value, text = value) => new Option(text, value);
  const group = (label, options) => {
    const made = element("optgroup", { label });
    made.append(...options);
    return made;
  };

  // What was chosen stays chosen where the new list has it, also after a look at another airport.
  const chosen = new Map([cities, states].filter(Boolean).map((control) => [control, control.value]));
  for (const control of chosen.keys()) control.addEventListener("change", () => chosen.set(control, control.value));

  function fill(select, parts) {
    select.replaceChildren(option(""), ...parts);
    const same = [...select.options].findLast((one) => one.value === chosen.get(select));
    if (same) same.selected = true;
    else select.selectedIndex = 0;
  }

  function fillCities(names, likeliest) {
    if (!isSelect) {
      const offered = [...new Set([...likeliest, ...names])];
      return cities.list.replaceChildren(...offered.map((name) => option(name, "")));
    }
    const all = names.map((name) => option(name));
    fill(cities, likeliest.length ? [group("Likeliest", likeliest.map((name) => option(name))), group("All", all)] : all);
  }

  function say(words, ...more) {
    note.replaceChildren(words, ...more);
  }

  function retryButton(code) {
    const button = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, "Retry");
    button.addEventListener("click", () => {
      cities.focus();
      load(code);
    });
    return button;
  }

  function explain(reason, code) {
    if (reason === "dropped") return;
    if (reason === "gone") say(`No airport has the code ${code}.`);
    else if (reason === "signed-out") say("You are signed out. ", element("a", { href: "/login", target: "_blank" }, "Sign in in a new tab"), " ", retryButton(code));
    else say("Could not load: ", retryButton(code));
  }

  async function load(code) {
    asking.abort(); // a late answer of an earlier airport counts no more
    asking = new AbortController();
    if (!code) {
      fillCities([], []);
      return say(isSelect ? "Choose an airport first." : "");
    }
    say("Loading cities ...");
    try {
      const answer = await ask(`/admin/airports/${code}`, { signal: asking.signal });
      fillCities(answer.cities.map((city) => city.city_name), answer.likeliest ?? []);
      if (states) fill(states, answer.states.map((state) => option(state.code, state.name)));
      say("");
    } catch (refusal) {
      explain(refusal.reason, code);
    }
  }

  field.addEventListener("airport", (event) => load(event.detail));
})();
