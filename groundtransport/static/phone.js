// Telephone numbers as they will be dialled, shown while they are typed. A doubt is told and hinders nothing.
(() => {
  const TYPING = 300; // ms after the last key
  const form = document.querySelector("form#record[data-kind]");
  if (!form) return;

  function watch(field) {
    const note = document.getElementById(`${field.id}-note`);
    if (!note) return;
    let asking = new AbortController();
    let timer = 0;
    field.setAttribute("aria-describedby", [field.getAttribute("aria-describedby"), note.id].filter(Boolean).join(" "));

    function say(text, isDoubtful) {
      note.textContent = text;
      note.classList.toggle("doubt", isDoubtful);
    }

    async function look() {
      clearTimeout(timer);
      asking.abort(); // a late answer about an earlier number counts no more
      asking = new AbortController();
      const number = field.value.trim();
      if (!number) return say("", false);
      const query = new URLSearchParams({ field: field.name, number, airport_name: form.elements.airport_name.value });
      try {
        const answer = await ask(`${form.dataset.kind}/phone?${query}`, { signal: asking.signal });
        const international = answer.international === number ? "" : answer.international;
        if (answer.warning) say(answer.warning, true);
        else say(international && t("Will be dialled as {number}", { number: international }), false);
      } catch ({ reason }) {
        if (reason !== "dropped") say("", false); // it is a help, no more: the save will tell
      }
    }

    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, TYPING);
    });
    // Another airport may be in another country.
    form.elements.airport_name.addEventListener("airport", () => field.value.trim() && look());
  }

  for (const field of form.querySelectorAll("input[type=tel]")) watch(field);
})();
