// The record's form: leaving it asks first when something typed would be lost.
(() => {
  const form = document.querySelector("form#record");
  if (!form) return;

  // The start is what the server sent, not what a browser restored into the fields.
  function atStart(field) {
    if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
    const options = [...field.options];
    return (options.find((option) => option.defaultSelected) ?? options[0])?.value ?? "";
  }

  const fields = [...form.elements].filter((field) => field.name && !["hidden", "submit"].includes(field.type));
  const start = new Map(fields.map((field) => [field, atStart(field)]));
  // A refused form holds what was typed and never saved.
  const wasRefused = document.querySelector("#errors") !== null;
  let leaving = false;

  const isChanged = () => fields.some((field) => field.value !== start.get(field));

  document.addEventListener("submit", () => {
    leaving = true;
  });
  addEventListener("pageshow", () => {
    leaving = false;
  });
  addEventListener("beforeunload", (event) => {
    if (!leaving && (wasRefused || isChanged())) event.preventDefault();
  });
})();
