// Selecting rows: the choice lasts over pages and sorting, and is dropped when the search or a filter changes.
(() => {
  const MOST = 500; // as the server says
  const form = document.querySelector("form#several");
  if (!form || !window.list) return;
  const { listed, table } = list;
  const all = form.elements.all;
  const page = listed.querySelector("[data-select-page]");
  const none = form.querySelector("[data-select-none]");
  const words = form.querySelector("[data-selected]");
  const chosen = new Map(); // id -> "id.version"
  let sought = list.filters().toString();
  let lastBox = null;

  const boxes = () => [...listed.querySelectorAll("tbody input[name=record]")];
  const idOf = (box) => box.value.split(".")[0];

  function countWords() {
    const n = list.matching();
    if (all.checked) return n ? t("All {n} that match are selected", { n }) : t("All that match are selected");
    if (chosen.size === 1) return t("1 selected");
    return t("{n} selected", { n: formatNumber(chosen.size) });
  }

  function show() {
    const shown = boxes();
    const isAny = all.checked || chosen.size > 0;
    for (const box of shown) {
      box.checked = all.checked || chosen.has(idOf(box));
      box.disabled = all.checked;
      box.closest("tr").classList.toggle("selected", box.checked);
    }
    page.checked = shown.length > 0 && shown.every((box) => box.checked);
    page.indeterminate = !page.checked && shown.some((box) => box.checked);
    form.toggleAttribute("data-active", isAny);
    none.hidden = !isAny;
    words.textContent = isAny ? countWords() : "";
    const n = list.matching();
    form.querySelector("[data-all] span").textContent = n ? t("All {n} that match", { n }) : t("All that match");
    // Send the records that were selected on other pages, too.
    for (const field of form.querySelectorAll("[data-away]")) field.remove();
    const here = new Set(shown.map(idOf));
    const away = all.checked ? [] : [...chosen].filter(([id]) => !here.has(id));
    form.append(...away.map(([, value]) => element("input", { type: "hidden", name: "record", value, "data-away": "" })));
  }

  function choose(box, isChosen) {
    if (!isChosen) chosen.delete(idOf(box));
    else if (chosen.size < MOST) chosen.set(idOf(box), box.value);
  }

  function chooseNone() {
    chosen.clear();
    all.checked = false;
  }

  listed.addEventListener("change", ({ target }) => {
    if (target === page) for (const box of boxes()) choose(box, page.checked);
    else choose(target, target.checked);
    show();
  });
  // With Shift, from the box before to this one.
  listed.addEventListener("click", (event) => {
    if (event.target.name !== "record") return;
    const shown = boxes();
    const [from, to] = [shown.indexOf(lastBox), shown.indexOf(event.target)].sort((a, b) => a - b);
    if (event.shiftKey && from >= 0) for (const box of shown.slice(from, to + 1)) choose(box, event.target.checked);
    lastBox = event.target;
  });
  all.addEventListener("change", show);
  none.addEventListener("click", () => {
    chooseNone();
    show();
    (boxes()[0] ?? listed).focus();
  });
  form.addEventListener("submit", (event) => {
    if (form.elements.action?.value || event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    form.elements.action?.focus();
  });

  listed.addEventListener("list:drawn", () => {
    const given = list.filters().toString();
    if (given !== sought) chooseNone();
    sought = given;
    for (const box of boxes()) if (chosen.has(idOf(box))) chosen.set(idOf(box), box.value);
    show();
  });
  // A browser that goes back restores boxes by itself.
  addEventListener("pageshow", () => {
    for (const box of boxes()) choose(box, box.checked && !box.disabled);
    show();
  });
})();
