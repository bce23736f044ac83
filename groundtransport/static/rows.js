// What the list's answers become on the page: text and nodes only, never a string that could be read as HTML.
// What was searched is marked as records/list/highlight.py marks it; keep the two alike.
(() => {
  const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/gu;
  const PHONE = /^[0-9+()./ -]*[0-9][0-9+()./ -]*$/;
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "");
  // Upper case first: it takes ß apart, as casefold does.
  const fold = (text) => plain(plain(text.replace(CONTROL, " ")).toUpperCase().toLowerCase());
  const digits = (text) => text.replace(/[^0-9]/g, "");

  // Marks

  function mark(hits, folded, term) {
    const line = folded.map(([char]) => char).join("");
    for (let start = term ? line.indexOf(term) : -1; start >= 0; start = line.indexOf(term, start + term.length)) {
      hits.fill(true, folded[start][1], folded[start + term.length - 1][1] + 1);
    }
  }

  // Return a text as nodes, with a <mark> around what matches one of the folded terms.
  function marked(text, terms, isPhone = false) {
    const chars = [...text];
    const hits = chars.map(() => false);
    // By code unit, as indexOf counts.
    const folded = chars.flatMap((char, index) => fold(char).split("").map((one) => [one, index]));
    for (const term of terms) {
      mark(hits, folded, term);
      if (isPhone && PHONE.test(term)) mark(hits, folded.filter(([one]) => /[0-9]/.test(one)), digits(term));
    }
    const nodes = [];
    for (let start = 0, end = 1; end <= chars.length; end += 1) {
      if (end < chars.length && (hits[end] === hits[start] || !fold(chars[end]))) continue;
      const piece = chars.slice(start, end).join("");
      nodes.push(hits[start] ? element("mark", {}, piece) : piece);
      start = end;
    }
    return together(...nodes);
  }

  // Return what is looked for in a column, folded: each word of the search, and the filters as they are.
  function terms(header, form) {
    return header.dataset.markedBy
      .split(" ")
      .flatMap((name) => {
        const value = fold(form.elements[name]?.value ?? "").trim();
        return name === "q" ? value.split(/\s+/) : [value];
      })
      .filter(Boolean);
  }

  // Cells

  function together(...nodes) {
    const fragment = document.createDocumentFragment();
    fragment.append(...nodes);
    return fragment;
  }

  function telephone(value) {
    const [number, ...extension] = value.toLowerCase().split(/;ext=|ext(?:ension|n)?\.?|x|#/);
    const plus = number.trim().startsWith("+") ? "+" : "";
    return `tel:${plus}${[digits(number), digits(extension.join(""))].filter(Boolean).join(";ext=")}`;
  }

  const shownAs = {
    text: (value, words) => marked(value, words),
    airport: (value, words) =>
      together(element("span", { class: "tag", translate: "no" }, marked(value.slice(-4, -1), words)), " ", marked(value.slice(0, -6), words)),
    phone: (value, words) => element("a", { href: telephone(value) }, marked(value, words, true)),
    display: (value, words, label, text) => marked(text, words),
    choice: (value, words, label) => element("span", { class: `badge status-${value}` }, label(value)),
  };

  // The field that the kind declares as its label; not each has one.
  const labelField = document.querySelector("#records")?.dataset.labelField;
  const labelOf = (row) => row[labelField] || row.airport_name;

  function actions(row) {
    const one = { name: labelOf(row) };
    const words = { view: t("View"), edit: t("Edit"), delete: t("Delete") };
    const labels = { view: t("View {name}", one), edit: t("Edit {name}", one), delete: t("Delete {name}", one) };
    const links = Object.entries(row.actions).map(([name, address]) => {
      const link = element("a", { href: address, "data-action": name, title: words[name], "aria-label": labels[name] }, words[name]);
      if (name === "view") link.setAttribute("data-view", "");
      return link;
    });
    return together(...links.flatMap((link) => [link, " "]));
  }

  function box(row) {
    const label = t("Select {name}", { name: labelOf(row) });
    const value = `${row.id}.${row.version}`;
    return element("input", { class: "form-check-input", type: "checkbox", name: "record", value, form: "several", "aria-label": label });
  }

  // Return the node of a cell; `isLink` makes it open the record.
  function cell(header, value, row, form, isLink) {
    const { name, shownAs: manner } = header.dataset;
    if (name === "actions") return actions(row);
    if (name === "select") return box(row);
    if (value === null || value === "") return document.createTextNode("");
    const label = (code) => [...form.elements[name].options].find((one) => one.value === code)?.text ?? code;
    const shown = shownAs[manner](value, terms(header, form), label, row.display?.[name]);
    if (manner === "phone") return shown;
    return isLink ? element("a", { class: "line", href: row.actions.view, "data-view": row.actions.view }, shown) : element("span", { class: "line" }, shown);
  }

  window.rows = { cell, labelField, labelOf, together };
})();
