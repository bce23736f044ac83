// A form that was left behind unsaved: Back shows it as it was typed, and once it was saved, as the server has it. What a
// browser remembers by itself would make the record once more. The tab keeps one form, and forgets it when closed.
(() => {
  const NAME = "groundtransport.draft";
  const GUARDS = ["form_token", "version"]; // they tell the server that it has this already, or something newer
  const form = document.querySelector("form#record[data-kind]");
  if (!form) return;

  const { pathname } = new URL(form.dataset.url ?? location, location);
  const isKept = (field) => GUARDS.includes(field.name) || (field.name && !["hidden", "submit"].includes(field.type));
  const fields = () => [...form.elements].filter(isKept);

  // Checkboxes of one name are one field: the list of the checked values.
  const checked = ({ name }) => [...form.querySelectorAll(`[name="${CSS.escape(name)}"]:checked`)].map((box) => box.value);
  const valueOf = (field) => (field.type === "checkbox" ? checked(field) : field.value);

  function find() {
    const draft = JSON.parse(sessionStorage.getItem(NAME) ?? "{}");
    return draft.pathname === pathname && draft.user === form.dataset.user ? draft : null;
  }

  function restore({ values }) {
    for (const field of fields()) {
      const value = values[field.name];
      if (value === undefined) continue;
      if (field.type === "checkbox") {
        field.checked = value.includes(field.value);
        continue;
      }
      // A city's list is not there yet: place.js fills it, and keeps what is chosen.
      if (field instanceof HTMLSelectElement && ![...field.options].some((one) => one.value === value)) field.append(new Option(value));
      field.value = value;
    }
  }

  function forget() {
    sessionStorage.removeItem(NAME);
  }

  function keep() {
    const values = Object.fromEntries(fields().map((field) => [field.name, valueOf(field)]));
    sessionStorage.setItem(NAME, JSON.stringify({ pathname, user: form.dataset.user, values }));
  }

  form.autocomplete = "off"; // the browser remembers nothing, or it would be half of the form
  form.addEventListener("change", keep);
  const isNew = performance.getEntriesByType("navigation")[0]?.type === "navigate";
  if (!isNew && find()) restore(find());
  else if (isNew && !("unsaved" in form.dataset)) forget();

  window.draft = { find, forget, keep };
})();
