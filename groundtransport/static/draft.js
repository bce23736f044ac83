// A form that was sent and did not arrive: Back shows it as it was typed. The tab keeps it, and forgets it when closed.
(() => {
  const NAME = "groundtransport.draft";
  const form = document.querySelector("form#record[data-kind]");
  if (!form) return;

  const { pathname } = location;
  const fields = () => [...form.elements].filter((field) => field.name && !["hidden", "submit"].includes(field.type));

  function restore() {
    const draft = JSON.parse(sessionStorage.getItem(NAME) ?? "{}");
    if (draft.pathname !== pathname || draft.user !== form.dataset.user) return;
    for (const field of fields()) {
      const value = draft.values[field.name];
      if (value === undefined) continue;
      // A city's list is not there yet: place.js fills it, and keeps what is chosen.
      if (field instanceof HTMLSelectElement && ![...field.options].some((one) => one.value === value)) field.append(new Option(value));
      field.value = value;
    }
  }

  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") restore();
  else sessionStorage.removeItem(NAME);

  window.keepDraft = () => {
    const values = Object.fromEntries(fields().map((field) => [field.name, field.value]));
    sessionStorage.setItem(NAME, JSON.stringify({ pathname, user: form.dataset.user, values }));
  };
})();
