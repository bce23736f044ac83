// Deleting asks first, in a dialog that names the record; without this script the link leads to a page that asks.
(() => {
  const AFTER = "groundtransport.deleted-row"; // which row's place to go to when the list comes back
  const dialog = document.querySelector("#removal");
  if (!dialog) return;
  const form = dialog.querySelector("form");
  const cancel = dialog.querySelector("[data-cancel]");

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-action=delete]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const record = link.closest("[data-version]");
    form.action = link.pathname.replace(/\/delete$/, "");
    form.elements.version.value = record.dataset.version;
    dialog.querySelector("h2").textContent = t("Delete “{name}”?", { name: record.dataset.label });
    dialog.dataset.place = document.getElementById(`record-${form.action.split("/").pop()}`)?.sectionRowIndex ?? 0;
    dialog.showModal();
    cancel.focus();
  });

  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  form.addEventListener("submit", () => sessionStorage.setItem(AFTER, dialog.dataset.place));

  // Back after a deletion: the focus goes to the row that came in its place.
  const place = sessionStorage.getItem(AFTER);
  if (place === null) return;
  sessionStorage.removeItem(AFTER);
  const rows = [...document.querySelectorAll("#records tbody tr[id]")];
  (rows[Math.min(Number(place), rows.length - 1)]?.querySelector("a[data-view]") ?? document.querySelector("#main")).focus();
})();
