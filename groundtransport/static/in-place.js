// Changing a field in its row of the list: Enter saves, Escape leaves it as it was, and whoever goes on elsewhere has saved it, too.
// One editor at a time; while it is open, list.js keeps the rows. What cannot be saved stays in the editor, with the reason.
(() => {
  const TIMEOUT = 15_000; // ms, as in ask.js
  if (!window.list || !list.listed.querySelector("th[data-in-place]")) return;
  const { listed } = list;
  let editor = null;

  // The cells

  const headerOf = (cell) => listed.tHead.rows[0].cells[cell.cellIndex];
  const titleOf = (cell) => headerOf(cell).getAttribute("aria-label");
  const isEditable = (cell) => Boolean(cell?.closest("#records tbody tr[id]")) && "inPlace" in headerOf(cell).dataset;
  const cellsOf = (row) => [...(row?.cells ?? [])].filter(isEditable);
  const cellAt = (id, name) => document.getElementById(id)?.querySelector(`td.col-${name}`);
  const cellInUse = () => document.activeElement.closest("#records tbody td");
  const wordsOf = (cell) => ({ column: titleOf(cell), name: cell.parentElement.dataset.label });

  // Return what a cell shows of the field itself.
  function textOf(cell) {
    const copy = cell.cloneNode(true);
    for (const more of copy.querySelectorAll(".badge, .visually-hidden, button")) more.remove();
    return copy.textContent.trim();
  }

  function airportOf(row) {
    if (row.dataset.airport) return row.dataset.airport;
    const text = textOf(row.querySelector(".col-airport_name"));
    return `${text.slice(4)} (${text.slice(0, 3)})`;
  }

  // The pencil: one where the pointer is, and one where the focus is

  const pencils = { pointer: pencil(), focus: pencil() };

  function pencil() {
    const button = element("button", { type: "button", class: "pencil" });
    button.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays where it is
    button.addEventListener("click", () => open(button.closest("td")));
    return button;
  }

  function place(button, cell) {
    const shown = cell.querySelector(".line, a[href^='tel:']");
    button.style.left = `${Math.max(cell.clientWidth, shown?.offsetWidth ?? 0) - button.offsetWidth}px`;
  }

  function offer(which, cell) {
    const button = pencils[which];
    const other = pencils[which === "focus" ? "pointer" : "focus"];
    if (editor || !isEditable(cell) || (which === "pointer" && cell.contains(other))) return button.remove();
    if (cell.contains(other)) other.remove();
    if (button.parentElement !== cell) {
      button.title = t("Change");
      button.setAttribute("aria-label", t("Change {column} of {name}", wordsOf(cell)));
      cell.append(button);
    }
    place(button, cell);
  }

  function focusOn(cell) {
    offer("focus", cell);
    pencils.focus.focus();
    place(pencils.focus, cell); // the focus lets the whole text be seen
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  listed.addEventListener("mouseover", ({ target }) => {
    if (document.activeElement !== pencils.pointer) offer("pointer", target.closest("tbody td"));
  });
  listed.addEventListener("mouseleave", () => document.activeElement === pencils.pointer || pencils.pointer.remove());
  document.addEventListener("focusin", ({ target }) => {
    if (!target.matches(".pencil")) offer("focus", target.closest("#records tbody td"));
  });

  // A click that leaves a field does no more than that.
  let isLeaving = false;
  listed.addEventListener("mousedown", () => (isLeaving = editor !== null), true);
  listed.addEventListener("click", (event) => {
    if (isLeaving && !event.target.closest("a, button, input, label, .in-place")) event.preventDefault();
  });

  // The editor

  function selectOf(cell, name) {
    const badge = cell.querySelector(".badge");
    const select = element("select", { class: "form-select form-select-sm" });
    for (const { value, text } of list.form.elements[name].options) if (value) select.append(new Option(text, value));
    const code = badge?.className.match(/status-(\S+)/)[1] ?? textOf(cell);
    // The badge of a record that is not valid today stands for the active status.
    select.value = [...select.options].some((one) => one.value === code) ? code : listed.dataset.active;
    return select;
  }

  function inputOf(cell, manner) {
    const input = element("input", { class: "form-control form-control-sm", inputmode: manner, autocomplete: "off" });
    input.value = textOf(cell);
    return input;
  }

  function button(text, style, act, more = {}) {
    const made = element("button", { type: "button", class: `btn btn-sm ${style}`, ...more }, text);
    made.addEventListener("click", act);
    return made;
  }

  async function open(cell) {
    const { id } = cell.parentElement;
    const { name, inPlace: manner } = headerOf(cell).dataset;
    await editor?.saving; // that of another field, which its reader has left for this one
    if (editor) return editor.control.focus();
    cell = cellAt(id, name); // the row may be a new one
    if (!cell) return;
    const row = cell.parentElement;
    if (manner === "form") return location.assign(`${row.querySelector("[data-action=edit]").href}#${name}`);
    const control = manner === "select" ? selectOf(cell, name) : inputOf(cell, manner);
    show({ cell, row, name, control, before: control.value, version: row.dataset.version });
  }

  function show(made) {
    const { cell, control } = made;
    for (const one of Object.values(pencils)) one.remove();
    const hint = element("p", { class: "visually-hidden", id: "in-place-hint" }, t("Enter saves, Escape leaves it as it was."));
    made.words = element("p", { class: "in-place-words", role: "alert", id: "in-place-words" });
    made.choices = element("div", { class: "in-place-choices" });
    // Not for the keyboard, which has Enter and Escape: Tab leads on to the next field.
    made.keep = button(t("Save"), "btn-primary", () => save(), { tabindex: "-1" });
    const leave = button(t("Cancel"), "btn-link", () => close(), { tabindex: "-1" });
    control.setAttribute("aria-label", t("{column} of {name}", wordsOf(cell)));
    control.setAttribute("aria-describedby", "in-place-hint in-place-words");
    made.box = element("div", { class: "in-place" }, element("div", { class: "in-place-line" }, control, made.keep, leave), hint, made.words, made.choices);
    listen(made);
    editor = made;
    list.hold(new Promise((resolve) => (made.end = resolve)));
    cell.append(made.box);
    made.box.classList.toggle("at-end", made.box.getBoundingClientRect().right > document.documentElement.clientWidth);
    made.box.scrollIntoView({ block: "nearest", inline: "nearest" });
    control.focus();
    control.select?.();
  }

  const isChanged = ({ control, before }) => control.value !== before;

  function listen(made) {
    const { box, control } = made;
    box.addEventListener("mousedown", (event) => {
      if (event.target.closest("button")) event.preventDefault(); // the focus stays in the field
    });
    box.addEventListener("keydown", (event) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") close();
      else if (event.key === "Enter" && event.target === control) save();
      else return;
      event.preventDefault();
    });
    box.addEventListener("focusout", ({ relatedTarget }) => {
      if (editor !== made || made.saving || box.contains(relatedTarget) || !document.hasFocus()) return;
      if (!isChanged(made)) close();
      else if (control.value !== made.refused) save(); // what was refused is not sent again by itself
    });
  }

  // End the editor. With the focus in it, its cell has it next.
  function close() {
    const { box, cell, row, name, saving, end } = editor;
    if (saving) return;
    const hadFocus = box.contains(document.activeElement);
    editor = null;
    box.remove();
    end();
    if (hadFocus) focusOn(cellAt(row.id, name) ?? cell);
    offer("pointer", listed.querySelector("tbody td:hover")); // it may have come there while the editor was open
  }

  addEventListener("beforeunload", (event) => {
    if (editor && !editor.isMoving && isChanged(editor)) event.preventDefault();
  });

  // Trouble: in words at the field, with what can be done

  function explain(words, ...choices) {
    const { box, control, keep, choices: place, words: told } = editor;
    keep.hidden = editor.isAsking = false;
    editor.refused = control.value;
    control.setAttribute("aria-invalid", "true");
    told.replaceChildren(words);
    place.replaceChildren(...choices);
    box.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  const formButton = () => button(t("Go on in the form"), "btn-outline-secondary", toForm);

  listed.addEventListener("list:waiting", () => {
    if (editor && !editor.saving && !editor.words.textContent) editor.words.append(t("The list waits until this field is saved or left."));
  });

  function explainRefusal({ reason }) {
    if (reason === "gone") return explain(t("This record was deleted."));
    if (reason !== "signed-out") return explain(t("The server cannot be reached. What you typed is still here and not saved yet."));
    const signIn = { href: "/login?next=/admin/session/again", target: "_blank", class: "btn btn-sm btn-primary" };
    explain(t("You are signed out. What you typed is still here and not saved yet."), element("a", signIn, t("Sign in in a new tab")));
    listed.dispatchEvent(new CustomEvent("list:trouble", { detail: "signed-out" })); // session.js waits for the sign-in
  }

  function askWho(user) {
    const words = t("You are signed in as {name} now. What you typed is not saved yet.", { name: user });
    const go = () => {
      listed.dataset.user = user;
      save();
    };
    explain(words, button(t("Save as {name}", { name: user }), "btn-outline-secondary", go));
  }

  function shownValue({ control }, value) {
    const label = [...(control.options ?? [])].find((one) => one.value === value)?.text;
    return (label ?? value) || t("(empty)");
  }

  // Somebody else has changed the same field.
  function askWhose({ current, changed_by: person, changed_at: at }) {
    const value = shownValue(editor, current[editor.name]);
    const time = element("time", { datetime: at ?? "" }, at ?? "");
    showTime(time);
    const words = person ? t("{person} saved “{value}” in the meantime:", { person, value }) : t("“{value}” was saved in the meantime.", { value });
    const mine = () => {
      editor.isAsking = false;
      editor.version = current.version;
      save();
    };
    const theirs = () => {
      const { row, name, saving } = editor;
      if (saving) return;
      close();
      drawAnew(row.id, name);
    };
    explain(
      rows.together(words, " ", time),
      button(t("Save mine"), "btn-primary", mine),
      button(t("Keep theirs"), "btn-outline-secondary", theirs),
      formButton(),
    );
    editor.keep.hidden = editor.isAsking = true; // Enter alone decides nothing
  }

  async function explainAnswer(response) {
    if (response.redirected) return explain(t("You may not change this record any more."));
    if (response.status === 404) return explain(t("This record was deleted."));
    const { errors, current, detail, ...more } = await response.json().catch(() => ({}));
    if (current) askWhose({ current, ...more });
    else if (errors) explain(Object.values(errors).flat().join(" "), formButton());
    else explain(detail ?? t("The server cannot be reached. What you typed is still here and not saved yet."), formButton());
  }

  // Saving

  const token = () => document.querySelector("[name=csrf_token]").value;
  const urlOf = (row) => row.querySelector("[data-action=view]").getAttribute("href");

  function fieldsOf({ row, name, control, version }) {
    return { airport_name: airportOf(row), version, list_state: list.state(), csrf_token: token(), [name]: control.value };
  }

  function save() {
    if (editor.saving || editor.isAsking) return;
    if (!isChanged(editor) && !editor.refused) return close();
    const { box, control, keep } = editor;
    const showSaving = (isSaving) => {
      box.setAttribute("aria-busy", isSaving);
      control.readOnly = isSaving;
      keep.textContent = isSaving ? t("Saving ...") : t("Save");
    };
    showSaving(true);
    editor.saving = send(editor).finally(() => showSaving(false));
  }

  // Send the field as the form does: the answer leads to the list, with the saved row and the messages.
  async function send(made) {
    let saved = null;
    try {
      const user = await presence.renew();
      const body = new URLSearchParams(fieldsOf(made));
      if (user !== listed.dataset.user) return void askWho(user);
      const signal = AbortSignal.timeout(TIMEOUT);
      const response = await fetch(urlOf(made.row), { method: "PUT", body, headers: { Accept: "application/json" }, signal });
      const isSaved = response.redirected && new URL(response.url).pathname !== "/login";
      if (!isSaved) return void (await explainAnswer(response));
      saved = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch (refusal) {
      return void explainRefusal(refusal);
    } finally {
      made.saving = null;
    }
    showSaved(made, saved);
  }

  const idsOf = (page) => [...page.querySelectorAll("#records tbody tr[id]")].map((row) => row.id).join();

  function showSaved({ box, row, name }, page) {
    const hadFocus = box.contains(document.activeElement);
    const fresh = page.getElementById(row.id);
    const isSamePage = fresh && idsOf(page) === idsOf(document);
    close();
    showMessages(page.querySelectorAll("#messages > .message, #messages ~ [role=status] > .message"));
    if (!isSamePage) return void drawAnew(row.id, name, hadFocus);
    list.replaceRow(fresh);
    if (hadFocus) focusOn(cellAt(row.id, name));
  }

  // Ask for the rows: the record may stand elsewhere now, or nowhere. The focus goes to it, or stays at its place.
  function drawAnew(id, name, hasFocus = true) {
    const go = () => {
      done.abort();
      const cell = cellAt(id, name);
      if (cell && hasFocus) focusOn(cell);
    };
    const done = new AbortController();
    listed.addEventListener("list:loaded", go, { once: true, signal: done.signal });
    listed.addEventListener("list:trouble", () => done.abort(), { once: true, signal: done.signal });
    list.table.draw("page");
  }

  // The whole form, with what was typed; nothing is saved by that.
  function toForm() {
    const fields = { ...fieldsOf(editor), _method: "PUT", refresh: "1" };
    const form = element("form", { method: "post", action: `${urlOf(editor.row)}#${editor.name}`, hidden: "" });
    form.append(...Object.entries(fields).map(([name, value]) => element("input", { type: "hidden", name, value })));
    document.body.append(form);
    editor.isMoving = true;
    form.submit();
  }

  // The keys

  // Open the field in use, or the first of its row.
  function openInUse() {
    const cell = cellInUse();
    const chosen = isEditable(cell) ? cell : cellsOf(cell?.parentElement)[0];
    if (chosen) open(chosen);
    return Boolean(chosen);
  }

  function step(by) {
    const cell = cellInUse();
    const cells = cellsOf(cell?.parentElement);
    const next = by > 0 ? cells.find((one) => one.cellIndex > cell.cellIndex) : cells.findLast((one) => one.cellIndex < cell.cellIndex);
    if (next) focusOn(next);
    return cells.length > 0;
  }

  // From the field in use to the same one of another row.
  function goTo(row) {
    if (!document.activeElement.matches(".pencil")) return false;
    focusOn(row.cells[cellInUse().cellIndex]);
    return true;
  }

  window.inPlace = { open: openInUse, step, goTo };
})();
