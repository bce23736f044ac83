// City and state follow the airport: when airport.js announces one, their lists are filled with what lies there.
(() => {
  const field = document.querySelector("[data-airports]");
  const cities = document.querySelector("[data-list=cities]");
  const states = document.querySelector("[data-list=states]");
  const note = document.querySelector("[data-city-note]");
  const stateNote = document.querySelector("[data-state-note]");
  if (!field || !cities || !note) return;

  const isSelect = cities instanceof HTMLSelectElement;
  let asking = new AbortController();
  let offered = ""; // the state that was set from the city, as long as nobody chose another

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

  // The state that each city lies in

  const options = [...(isSelect ? cities.options : cities.list.options)];
  let stateOf = Object.fromEntries(options.filter((one) => one.dataset.state).map((one) => [one.value, one.dataset.state]));

  function setState(code) {
    states.value = offered = code;
    chosen.set(states, code);
    stateNote.textContent = t("{state}, from the city.", { state: states.selectedOptions[0].text });
  }

  function offerState() {
    if (!states || !stateNote) return;
    stateNote.replaceChildren();
    const code = stateOf[cities.value.trim()];
    const option = [...states.options].find((one) => code && one.value === code);
    if (!option || states.value === code) return;
    if (!states.value || states.value === offered) return setState(code);
    const button = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, t("Choose {state}", { state: option.text }));
    button.addEventListener("click", () => {
      states.focus();
      setState(code);
    });
    stateNote.append(t("{city} is in {state}.", { city: cities.value, state: option.text }), " ", button);
  }

  cities.addEventListener("change", offerState);
  states?.addEventListener("change", () => {
    offered = "";
    stateNote?.replaceChildren();
  });

  function fill(select, parts) {
    select.replaceChildren(option(""), ...parts);
    const same = [...select.options].findLast((one) => one.value === chosen.get(select));
    if (same) same.selected = true;
    else select.selectedIndex = 0;
  }

  function fillCities(names, likeliest, further = []) {
    if (!isSelect) {
      const offered = [...new Set([...likeliest, ...names, ...further])];
      return cities.list.replaceChildren(...offered.map((name) => option(name, "")));
    }
    const all = names.map((name) => option(name));
    fill(cities, likeliest.length ? [group(t("Likeliest"), likeliest.map((name) => option(name))), group(t("All"), all)] : all);
  }

  function say(words, ...more) {
    note.replaceChildren(words, ...more);
  }

  function retryButton(code) {
    const button = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, t("Retry"));
    button.addEventListener("click", () => {
      cities.focus();
      load(code);
    });
    return button;
  }

  const signInLink = () => element("a", { href: "/login?next=/admin/session/again", target: "_blank" }, t("Sign in in a new tab"));

  function explain(reason, code) {
    if (reason === "dropped") return;
    if (reason === "gone") say(t("No airport has the code {code}.", { code }));
    else if (reason === "signed-out") say(t("You are signed out."), " ", signInLink(), " ", retryButton(code));
    else say(t("Could not load:"), " ", retryButton(code));
  }

  async function load(code) {
    asking.abort(); // a late answer of an earlier airport counts no more
    asking = new AbortController();
    if (!code) {
      fillCities([], []);
      return say(isSelect ? t("Choose an airport first.") : "");
    }
    say(t("Loading cities ..."));
    try {
      const answer = await ask(`/admin/airports/${code}`, { signal: asking.signal });
      fillCities(answer.cities.map((city) => city.city_name), answer.likeliest ?? [], answer.further_cities);
      if (states) fill(states, answer.states.map((state) => option(state.code, state.name)));
      stateOf = answer.city_states ?? {};
      say("");
      if (cities.value) offerState();
    } catch (refusal) {
      explain(refusal.reason, code);
    }
  }

  field.addEventListener("airport", (event) => load(event.detail));
})();
