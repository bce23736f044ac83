// The list: DataTables over the rows that the server rendered, with the list's state kept in the address.
(() => {
  const TYPING = 300; // ms after the last key
  const listed = document.querySelector("#records");
  if (!listed) return;

  const here = listed.dataset.source.split("?")[0];
  const form = document.querySelector("form.filters");
  const pageSize = form.elements.page_size;
  const sortChoice = form.elements.sort; // for cards, which have no header
  const headers = [...listed.querySelectorAll("thead th")];
  const names = headers.map((header) => header.dataset.name);
  const dialog = document.querySelector("#detail");
  let sizeChosen = new URLSearchParams(location.search).has("page_size");
  // A sort by something that is no column here holds until a header is used.
  let otherSort = names.includes(listed.dataset.sortedBy.replace("-", "")) ? "" : listed.dataset.sortedBy;
  const served = [...listed.tBodies[0].rows];
  let asking = new AbortController();
  let timer = 0;
  // Where the length of the list is guessed, the last page is asked for as such.
  let isGuessed = "estimate" in listed.dataset;
  // Where counting was stopped, the length that the table knows says no more than whether there may be a next page.
  let isUncounted = "uncounted" in listed.dataset;
  let isEnd = listed.dataset.uncounted === "end"; // the last rows of so many: their numbers are not known
  let shownStart = Number(listed.dataset.start); // the offset of the first row of the last answer
  // What the next draw does to the browser's history: a step of its own, or none ("replace"). Typing is one step.
  let step = "replace";
  let lastStep = "";

  // The list's state

  const SHOWN = ["sort", "page_size", "columns"]; // how the list is shown; the other fields filter it
  const columns = form.elements.columns?.value; // those that the address names

  function filters() {
    const given = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value.trim() && !SHOWN.includes(name)) given.set(name, value.trim());
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
    if (columns) params.set("columns", columns);
    if (page > 0) params.set("page_no", page + 1);
    if (sizeChosen) params.set("page_size", pageSize.value);
    return params.toString();
  }

  // Return the address of the list as it is, with a record's details over it, if it is to have them.
  function address(view = "", text = state()) {
    text = [text, view && `view=${encodeURIComponent(view)}`].filter(Boolean).join("&");
    return text ? `${here}?${text}` : here;
  }

  function showState() {
    const text = state();
    const shown = address(dialog.dataset.record);
    const isNew = step !== "replace" && step !== lastStep && shown !== location.pathname + location.search;
    history[isNew ? "pushState" : "replaceState"](isNew ? null : history.state, "", shown);
    lastStep = step.startsWith("typing") ? step : "";
    step = "replace";
    sortChoice.value = sortText();
    const create = document.querySelector("[data-create]");
    if (create) create.search = text;
    const exporting = document.querySelector("[data-export]");
    if (exporting) exporting.search = text;
    for (const field of document.querySelectorAll("[name=list_state]")) field.value = text;
    const managing = document.querySelector("[data-views]");
    if (managing) managing.search = text;
    const others = new URLSearchParams(text); // the menu of columns replaces those of the address
    others.delete("columns");
    document.querySelector(".menu [name=next]").value = address("", others.toString());
    document.querySelector("#signed-out a").href = signInAddress();
    for (const link of listed.querySelectorAll("tbody a[data-view]:not([data-action])")) {
      link.href = address(link.closest("tr").id.slice("record-".length));
    }
  }

  // Bring the list to the state that an address of its own tells: Back and Forward.
  function restore() {
    const params = new URLSearchParams(location.search);
    if (columns !== (params.get("columns") ?? undefined)) return location.reload();
    for (const field of form.elements) {
      if (field.name && !SHOWN.includes(field.name)) field.value = params.get(field.name) ?? "";
    }
    sizeChosen = params.has("page_size");
    pageSize.value = params.get("page_size") ?? pageSize.dataset.usual;
    sortBy(params.get("sort") ?? "");
    table.page.len(Number(pageSize.value));
    table.page((Number(params.get("page_no")) || 1) - 1);
    step = "replace";
    table.draw("page");
  }

  function orderOf(sort) {
    const index = names.indexOf(sort.replace("-", ""));
    return index < 0 ? [] : [[index, sort.startsWith("-") ? "desc" : "asc"]];
  }

  function sortBy(sort) {
    const wanted = orderOf(sort);
    table.order(wanted);
    otherSort = wanted.length ? "" : sort;
  }

  const sorted = (params) => {
    params.delete("view");
    params.sort();
    return params.toString();
  };
  let isOwnStep = false;
  // Leave the step that the details made: the list stays as it is.
  function back() {
    isOwnStep = true;
    history.back();
  }

  addEventListener("popstate", () => {
    const isOwn = isOwnStep;
    isOwnStep = false;
    if (isOwn) return;
    const isMoved = sorted(new URLSearchParams(location.search)) !== sorted(new URLSearchParams(state()));
    listed.dispatchEvent(new CustomEvent("list:view", { detail: new URLSearchParams(location.search).get("view") }));
    if (isMoved) restore();
  });

  // The chips: the search and the filters in use, each a way to be rid of it

  function titleOf(name) {
    return form.elements[name].labels[0].textContent.trim();
  }

  function showChips() {
    const chips = document.querySelector("[data-chips]");
    const given = filters();
    const made = [...given].map(([name, value]) => {
      const field = form.elements[name];
      const text = field.tagName === "SELECT" ? field.selectedOptions[0].text : value;
      const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
      const hidden = element("span", { class: "visually-hidden" }, t("Remove:") + " ");
      const cross = element("span", { "aria-hidden": "true" }, "×");
      const without = new URLSearchParams(state());
      for (const gone of [name, "page_no"]) without.delete(gone);
      const href = without.size ? `${here}?${without}` : here;
      return element("a", { class: "chip", href, "data-chip": name }, hidden, `${titleOf(name)}: ${shown} `, cross);
    });
    const focused = chips.contains(document.activeElement);
    for (const chip of chips.querySelectorAll("[data-chip]")) chip.remove();
    chips.prepend(...made);
    chips.hidden = given.size === 0;
    if (focused) (chips.hidden ? form.elements.q : chips.querySelector("a")).focus();
    given.delete("q");
    form.querySelector("[data-count]").textContent = given.size ? ` (${given.size})` : "";
  }

  function clear(gone) {
    for (const field of form.elements) {
      if (field.name && !SHOWN.includes(field.name) && gone(field.name)) field.value = "";
    }
    search("chip");
  }

  document.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-chip], [data-clear], [data-no-match] a");
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    clear((name) => !chip.dataset.chip || name === chip.dataset.chip);
  });

  function showEmptiness() {
    const none = table.page.info().recordsDisplay === 0;
    document.querySelector("[data-table]").hidden = none;
    document.querySelector("[data-no-match]").hidden = !none || isUncounted;
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
    if (columns) params.set("columns", columns);
    // The rows' links lead back to a page of this size.
    if (sizeChosen) params.set("page_size", pageSize.value);
    showWay(params, data);
    return `${here}?${params}`;
  }

  // Tell the server a shorter way to the rows than counting from the start.
  function showWay(params, data) {
    const { recordsDisplay } = table.page.info();
    if (isGuessed && data.start > shownStart && data.start + data.length >= recordsDisplay) {
      params.delete("start");
      params.set("page_no", "last");
    }
  }

  function note(data, answer) {
    isGuessed = Boolean(answer.recordsFilteredIsEstimate);
    isUncounted = Boolean(answer.recordsFilteredIsUnknown);
    isEnd = false;
    shownStart = data.start;
    document.querySelector("#list-truncated").hidden = !answer.truncated;
  }

  // While a field is changed in its row, the rows stay: new ones would take the editor and what was typed in it away.
  let inUse = null; // a promise of its end
  function hold(promise) {
    inUse = promise;
    promise.then(() => (inUse = null));
  }

  async function untilFree() {
    if (!inUse) return;
    listed.setAttribute("aria-busy", "false");
    listed.dispatchEvent(new CustomEvent("list:waiting"));
    await inUse;
    listed.setAttribute("aria-busy", "true");
  }

  // Rows that came while a field was changed are asked for once more: they may be older than the change.
  async function fetchRows(data, signal) {
    for (;;) {
      await untilFree();
      const answer = await ask(requestFor(data), { signal });
      if (!inUse) return answer;
    }
  }

  function load(data, done) {
    asking.abort();
    asking = new AbortController();
    fetchRows(data, asking.signal).then(
      (answer) => {
        showTrouble("");
        note(data, answer);
        keepFocus(() => done(answer));
        listed.dispatchEvent(new CustomEvent("list:loaded"));
        // The last row of the last page went away.
        if (!answer.data.length && answer.recordsFiltered && !answer.truncated) table.page("last").draw("page");
      },
      (refusal) => {
        if (refusal.reason === "dropped") return;
        listed.setAttribute("aria-busy", "false"); // DataTables waits on for the answer
        document.querySelector("#list-refused").textContent = refusal.message;
        showTrouble({ "signed-out": "signed-out", refused: "list-refused" }[refusal.reason] ?? "list-failed");
        listed.dispatchEvent(new CustomEvent("list:trouble", { detail: refusal.reason }));
      },
    );
  }

  // The pager's buttons and the rows are made anew at every draw: what was in use keeps the focus, or what came in its place.
  function keepFocus(draw) {
    const used = document.activeElement;
    const button = used?.dataset.dtIdx;
    const pager = [...document.querySelectorAll(".dt-paging")].findIndex((one) => one.contains(used));
    const row = used?.closest("#records tbody tr")?.sectionRowIndex;
    draw();
    if (button !== undefined) {
      const made = document.querySelectorAll(".dt-paging")[pager];
      const again = made.querySelector(`[data-dt-idx="${button}"]:not([aria-disabled=true])`);
      (again ?? made.querySelector("[aria-current]"))?.focus();
    } else if (row !== undefined) {
      const rows = listed.tBodies[0].rows;
      (rows[Math.min(row, rows.length - 1)]?.querySelector("a[data-view]") ?? form.elements.q).focus();
    }
  }

  function showTrouble(id) {
    for (const banner of ["signed-out", "list-failed", "list-refused"]) {
      const shown = document.getElementById(banner);
      const hadFocus = shown.contains(document.activeElement);
      shown.hidden = banner !== id;
      if (hadFocus && shown.hidden) listed.focus();
    }
  }

  // The columns

  const copyOf = (cell) => rows.together(...[...cell.childNodes].map((node) => node.cloneNode(true)));
  const linkColumns = listed.dataset.linkColumns.split(" "); // the first with a value links to the record, else the last

  function column(header) {
    const { name } = header.dataset;
    const isData = name !== "actions" && name !== "select";
    const show = (value, type, row, meta) => {
      if (type !== "display") return isData ? value : "";
      if (!("id" in row)) return copyOf(served[meta.row].cells[meta.col]); // as the server rendered it
      const linked = linkColumns.find((one) => row[one]) ?? linkColumns.at(-1);
      return rows.cell(header, value, row, form, name === linked);
    };
    const className = name === "actions" ? name : `col-${name}`;
    // A box has no value of its own in the answers.
    return { name, data: name === "select" ? "version" : name, type: "string", className, orderable: isData && !("unsorted" in header.dataset), render: show };
  }

  // Narrow screens show rows as cards, and some browsers then forget what a table is.
  function keepRoles(row, data) {
    if (data?.id) Object.assign(row.dataset, { version: data.version, label: rows.labelOf(data), airport: data.airport_name });
    row.setAttribute("role", "row");
    for (const cell of row.cells) cell.setAttribute("role", cell.scope === "col" ? "columnheader" : "cell");
  }

  // Show a row as the server rendered it after a save, in the place of the same record's row.
  const FOCUSABLE = "a, button, input";
  function replaceRow(fresh) {
    const row = document.getElementById(fresh.id);
    const used = row.contains(document.activeElement) ? document.activeElement : null;
    const cell = used?.closest("td");
    const place = used && [cell.cellIndex, [...cell.querySelectorAll(FOCUSABLE)].indexOf(used)];
    for (const saved of listed.querySelectorAll("tr.just-saved")) {
      saved.classList.remove("just-saved");
      saved.removeAttribute("aria-current");
      saved.querySelector("td > .visually-hidden")?.remove();
    }
    row.replaceChildren(...fresh.cells);
    row.className = fresh.className;
    row.setAttribute("aria-current", "true");
    Object.assign(row.dataset, fresh.dataset);
    keepRoles(row);
    for (const time of row.querySelectorAll("time[datetime]:not([data-day])")) showTime(time);
    if (place) row.cells[place[0]].querySelectorAll(FOCUSABLE)[place[1]]?.focus();
    listed.dispatchEvent(new CustomEvent("list:drawn"));
  }

  // The menu of columns: its buttons move a column, and only those that are shown have a place.

  const columnMenu = document.querySelector("[data-columns]");
  const spokenPlace = element("p", { class: "visually-hidden", role: "status" });
  columnMenu.after(spokenPlace);
  columnMenu.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    event.preventDefault();
    const item = button.closest("li");
    if (button.name === "earlier") item.previousElementSibling?.before(item);
    else item.nextElementSibling?.after(item);
    button.focus();
    const values = { column: item.querySelector("label").textContent.trim(), n: [...columnMenu.children].indexOf(item) + 1 };
    spokenPlace.textContent = t("{column}: place {n}", values);
  });
  const mover = (name, sign, words) => element("button", { name, "aria-label": words }, sign);
  function offerMoves(item) {
    for (const button of item.querySelectorAll("button")) button.remove();
    if (!item.querySelector("input").checked) return;
    const one = { column: item.textContent.trim() };
    item.append(mover("earlier", "↑", t("Move {column} up", one)), mover("later", "↓", t("Move {column} down", one)));
  }
  columnMenu.addEventListener("change", ({ target }) => offerMoves(target.closest("li")));
  for (const item of columnMenu.children) offerMoves(item);

  // The start

  for (const link of listed.querySelectorAll("thead a")) {
    link.parentElement.setAttribute("aria-label", link.textContent);
    link.parentElement.replaceChildren(link.textContent);
  }
  const sizeField = document.querySelector("[data-page-size]");
  for (const plain of document.querySelectorAll("[data-plain]")) plain.remove();
  listed.setAttribute("role", "table");
  for (const part of [listed.tHead, listed.tBodies[0]]) part.setAttribute("role", "rowgroup");
  for (const row of listed.rows) keepRoles(row);

  const pages = { paging: { firstLast: false, buttons: 5 } };
  DataTable.ext.errMode = "none"; // never an alert; the banners speak
  const { start, length, filtered, total } = listed.dataset;
  const table = new DataTable(listed, {
    ajax: load,
    serverSide: true,
    deferLoading: [Number(filtered), Number(total)],
    displayStart: Number(start),
    pageLength: Number(length),
    columns: headers.map(column),
    order: orderOf(listed.dataset.sortedBy),
    orderMulti: false,
    autoWidth: false,
    formatNumber,
    createdRow: keepRoles,
    layout: { topStart: "info", topEnd: pages, bottomStart: ["info", () => sizeField], bottomEnd: pages },
    infoCallback: (settings, start, end, max, number, text) => {
      const shown = { start: formatNumber(start), end: formatNumber(end) };
      if (isUncounted) return isEnd || end < start ? t("Counting was stopped") : t("Showing {start} to {end}; counting was stopped", shown);
      return isGuessed ? t("Showing {start} to {end} of about {number}", { ...shown, number: formatNumber(number) }) : text;
    },
    language: {
      info: t("Showing _START_ to _END_ of _TOTAL_"),
      infoFiltered: t("(filtered from _MAX_)"),
      infoEmpty: "",
      zeroRecords: "",
      emptyTable: "",
      paginate: { previous: t("Previous"), next: t("Next") },
      aria: {
        orderable: t(": sort"),
        orderableReverse: t(": sort the other way round"),
        orderableRemove: t(": sort no longer, newest first"),
        paginate: { previous: t("Previous page"), next: t("Next page"), number: t("Page ") },
      },
    },
  });

  // A header is announced by its label; the text beside the button that sorts would be read once more.
  for (const title of listed.querySelectorAll("th[aria-label]:not([data-unsorted]) .dt-column-title")) title.setAttribute("aria-hidden", "true");

  // Two landmarks of one name could not be told apart.
  const pagers = document.querySelectorAll(".dt-paging nav");
  for (const [index, name] of [t("Pages, above the list"), t("Pages")].entries()) pagers[index].setAttribute("aria-label", name);

  // What the rows are is said once.
  const told = document.querySelector(".dt-info");
  for (const name of ["role", "aria-live"]) told.removeAttribute(name);

  table.on("order", () => {
    if (table.order().length) otherSort = "";
  });
  // A step of the reader's own, unless something else was said before the draw.
  table.on("page order", () => {
    if (step === "replace" && !dialog.dataset.record) step = "table";
  });
  table.on("draw", () => {
    showState();
    showChips();
    showEmptiness();
    listed.dispatchEvent(new CustomEvent("list:drawn"));
  });
  table.on("processing", (event, settings, busy) => listed.setAttribute("aria-busy", busy && !inUse));

  const search = (why) => {
    clearTimeout(timer);
    step = why;
    table.draw();
  };
  form.addEventListener("input", ({ target }) => {
    clearTimeout(timer);
    if (target !== sortChoice) timer = setTimeout(search, target.matches("select") ? 0 : TYPING, `typing ${target.name}`);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search("submit");
  });
  sortChoice.addEventListener("change", () => {
    sortBy(sortChoice.value);
    step = "table";
    table.draw();
  });
  pageSize.addEventListener("change", () => {
    sizeChosen = true;
    step = "size";
    table.page.len(Number(pageSize.value)).draw(false);
    pageSize.dataset.usual = pageSize.value;
    prefer("page_size", pageSize.value);
  });
  document.querySelector("#list-failed button").addEventListener("click", () => table.draw("page"));
  listed.addEventListener("list:again", () => table.draw("page"));

  // Return how many records match, in words; "" where they were not counted.
  const matching = () => (isUncounted ? "" : formatNumber(table.page.info().recordsDisplay));

  window.list = { matching, table, listed, form, here, state, address, filters, back, hold, replaceRow };
  showState();

  // What was just saved, or asked for, is in view.
  const found = listed.querySelector("tbody tr[aria-current]");
  if (found && !dialog.dataset.record) {
    const link = found.querySelector("a[data-view]");
    link.scrollIntoView({ block: "center" });
    link.focus({ preventScroll: true });
  }
})();
