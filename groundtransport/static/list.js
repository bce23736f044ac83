// The list: DataTables over the rows that the server rendered, with the list's state kept in the address.
(() => {
  const TYPING = 300; // ms after the last key
  const listed = document.querySelector("#records");
  if (!listed) return;

  const here = listed.dataset.source.split("?")[0];
  const form = document.querySelector("form.filters");
  const pageSize = form.elements.page_size;
  const headers = [...listed.querySelectorAll("thead th")];
  const names = headers.map((header) => header.dataset.name);
  let sizeChosen = new URLSearchParams(location.search).has("page_size");
  // A sort by something that is no column here holds until a header is used.
  let otherSort = names.includes(listed.dataset.sortedBy.replace("-", "")) ? "" : listed.dataset.sortedBy;
  const served = [...listed.tBodies[0].rows];
  let asking = new AbortController();
  let timer = 0;

  // The list's state

  function filters() {
    const given = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value.trim() && !["sort", "page_size"].includes(name)) given.set(name, value.trim());
    }
    return given;
  }

  function sortText() {
    const [first] = table.order();
    if (!first || !first[1]) return otherSort;
    return (first[1] === "desc" ? "-" : "") + names[first[0]];
  }

  function state() {
    const params = filters();
    const { page } = table.page.info();
    if (sortText()) params.set("sort", sortText());
    if (page > 0) params.set("page_no", page + 1);
    if (sizeChosen) params.set("page_size", pageSize.value);
    return params.toString();
  }

  function showState() {
    const text = state();
    history.replaceState(history.state, "", text ? `${here}?${text}` : here);
    const create = document.querySelector("[data-create]");
    if (create) create.search = text;
    document.querySelector("#signed-out a").href = signInAddress();
  }

  function showCounts() {
    const given = filters();
    document.querySelector("[data-clear]").hidden = given.size === 0;
    given.delete("q");
    form.querySelector("[data-count]").textContent = given.size ? ` (${given.size})` : "";
    const none = table.page.info().recordsDisplay === 0;
    document.querySelector("[data-table]").hidden = none;
    document.querySelector("[data-no-match]").hidden = !none;
  }

  // The server

  function requestFor(data) {
    const params = filters();
    params.delete("q");
    params.set("ajax", "1");
    for (const name of ["draw", "start", "length"]) params.set(name, data[name]);
    params.set("search[value]", form.elements.q.value.trim());
    if (data.order.length) {
      params.set("order[0][name]", data.order[0].name);
      params.set("order[0][dir]", data.order[0].dir);
    } else if (otherSort) {
      params.set("sort", otherSort);
    }
    // The rows' links lead back to a page of this size.
    if (sizeChosen) params.set("page_size", pageSize.value);
    return `${here}?${params}`;
  }

  function load(data, done) {
    asking.abort();
    asking = new AbortController();
    ask(requestFor(data), { signal: asking.signal }).then(
      (answer) => {
        showTrouble("");
        keepPagerFocus(() => done(answer));
        // The last row of the last page went away.
        if (!answer.data.length && answer.recordsFiltered) table.page("last").draw("page");
      },
      (refusal) => {
        if (refusal.reason === "dropped") return;
        table.processing(false);
        showTrouble(refusal.reason === "signed-out" ? "signed-out" : "list-failed");
      },
    );
  }

  // The pager's buttons are made anew at every draw; the one in use keeps the focus, or the page it led to.
  function keepPagerFocus(draw) {
    const used = document.activeElement?.dataset.dtIdx;
    draw();
    if (used === undefined) return;
    const again = document.querySelector(`.dt-paging [data-dt-idx="${used}"]:not([aria-disabled=true])`);
    (again ?? document.querySelector(".dt-paging [aria-current]"))?.focus();
  }

  function showTrouble(id) {
    for (const banner of ["signed-out", "list-failed"]) {
      const shown = document.getElementById(banner);
      const hadFocus = shown.contains(document.activeElement);
      shown.hidden = banner !== id;
      if (hadFocus && shown.hidden) listed.focus();
    }
  }

  // The rows: text and nodes only, never a string that could be read as HTML

  const text = (value) => document.createTextNode(value ?? "");

  function together(...nodes) {
    const fragment = document.createDocumentFragment();
    fragment.append(...nodes);
    return fragment;
  }

  const shownAs = {
    text,
    airport: (value) => together(element("span", { class: "tag", translate: "no" }, value.slice(-4, -1)), ` ${value.slice(0, -6)}`),
    phone: (value) => element("a", { href: `tel:${value.replaceAll(" ", "")}` }, value),
    choice: (value, name) => element("span", { class: `badge status-${value}` }, choiceLabel(name, value)),
  };

  const copyOf = (cell) => together(...[...cell.childNodes].map((node) => node.cloneNode(true)));

  function choiceLabel(name, value) {
    const option = [...form.elements[name].options].find((one) => one.value === value);
    return option ? option.text : value;
  }

  function actionLinks(row) {
    const label = row.company_name || row.airport_name;
    const links = Object.entries(row.actions).map(([name, address]) => {
      const word = name[0].toUpperCase() + name.slice(1);
      const link = element("a", { href: address, "data-action": name, "aria-label": `${word} ${label}` }, word);
      if (name === "view") link.setAttribute("data-view", "");
      return link;
    });
    return together(...links.flatMap((link) => [link, " "]));
  }

  function column(header) {
    const { name, shownAs: manner } = header.dataset;
    const isActions = name === "actions";
    const show = (value, type, row, meta) => {
      if (type !== "display") return isActions ? "" : value;
      if (!("id" in row)) return copyOf(served[meta.row].cells[meta.col]); // as the server rendered it
      if (isActions) return actionLinks(row);
      return value ? shownAs[manner](value, name) : text("");
    };
    const className = isActions ? "actions" : `col-${name}`;
    return { name, data: name, type: "string", className, orderable: !isActions, render: show };
  }

  // Narrow screens show rows as cards, and some browsers then forget what a table is.
  function keepRoles(row) {
    row.setAttribute("role", "row");
    for (const cell of row.cells) cell.setAttribute("role", cell.scope === "col" ? "columnheader" : "cell");
  }

  // The start

  function order() {
    const sort = listed.dataset.sortedBy;
    const index = names.indexOf(sort.replace("-", ""));
    return index < 0 ? [] : [[index, sort.startsWith("-") ? "desc" : "asc"]];
  }

  for (const link of listed.querySelectorAll("thead a")) link.parentElement.replaceChildren(link.textContent);
  document.querySelector("[data-plain]")?.remove();
  listed.setAttribute("role", "table");
  for (const part of [listed.tHead, listed.tBodies[0]]) part.setAttribute("role", "rowgroup");
  for (const row of listed.rows) keepRoles(row);

  DataTable.ext.errMode = "none"; // never an alert; the banners speak
  const { start, length, filtered, total } = listed.dataset;
  const table = new DataTable(listed, {
    ajax: load,
    serverSide: true,
    deferLoading: [Number(filtered), Number(total)],
    displayStart: Number(start),
    pageLength: Number(length),
    columns: headers.map(column),
    order: order(),
    orderMulti: false,
    autoWidth: false,
    createdRow: keepRoles,
    layout: { topStart: null, topEnd: null, bottomStart: "info", bottomEnd: { paging: { firstLast: false, buttons: 5 } } },
    language: {
      info: "Showing _START_ to _END_ of _TOTAL_",
      infoFiltered: "(filtered from _MAX_)",
      infoEmpty: "",
      zeroRecords: "",
      emptyTable: "",
      paginate: { previous: "Previous", next: "Next" },
      aria: {
        orderable: ": sort",
        orderableReverse: ": sort the other way round",
        orderableRemove: ": sort no longer, newest first",
        paginate: { previous: "Previous page", next: "Next page", number: "Page " },
      },
    },
  });

  table.on("order", () => {
    if (table.order().length) otherSort = "";
  });
  table.on("draw", () => {
    showState();
    showCounts();
  });
  table.on("processing", (event, settings, busy) => listed.setAttribute("aria-busy", busy));

  const search = () => {
    clearTimeout(timer);
    table.draw();
  };
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.target !== pageSize) timer = setTimeout(search, event.target.matches("select") ? 0 : TYPING);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  pageSize.addEventListener("change", () => {
    sizeChosen = true;
    table.page.len(Number(pageSize.value)).draw(false);
  });
  document.querySelector("#list-failed button").addEventListener("click", () => table.draw("page"));
})();
