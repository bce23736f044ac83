// The detail dialog: a record over the list, at an address of its own. Without this script the address shows it on the page.
(() => {
  const dialog = document.querySelector("#detail");
  if (!dialog) return;
  const body = dialog.querySelector(".detail-body");
  const last = dialog.querySelector("[data-detail-last]");
  const steps = { previous: dialog.querySelector("[data-step=previous]"), next: dialog.querySelector("[data-step=next]") };
  const link = (name) => dialog.querySelector(`[data-${name}]`);
  let asking = new AbortController();
  let waiting = ""; // "first" or "last": which row to show once the next page is there
  let isGoingBack = false; // the browser closes it, by Back

  const rowOf = (id) => document.getElementById(`record-${id}`);
  const rowsShown = () => [...document.querySelectorAll("#records tbody tr[id]")];
  const idOf = (row) => row.id.slice("record-".length);

  function say(words, ...more) {
    body.replaceChildren(element("p", { class: "detail-state" }, words, ...more));
  }

  function retryButton(again) {
    const button = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, t("Try again"));
    button.addEventListener("click", () => {
      dialog.querySelector(".btn-close").focus();
      again();
    });
    return button;
  }

  function offer(name, href) {
    const shown = link(name);
    if (!shown) return;
    shown.hidden = !href;
    if (href) shown.href = href;
  }

  function offerVerification(row) {
    const form = dialog.querySelector("[data-verify]");
    const button = row?.querySelector("[data-action=verify]");
    if (!form) return;
    form.hidden = !button;
    if (!button) return;
    form.action = button.getAttribute("formaction");
    form.elements.version.value = row.dataset.version;
  }

  function explain(reason, again) {
    if (reason === "dropped") return;
    for (const name of ["edit", "copy", "action=delete"]) offer(name, "");
    offerVerification(null);
    if (reason === "gone") say(t("This record was deleted."));
    else if (reason === "signed-out") say(t("You are signed out.") + " ", element("a", { href: signInAddress() }, t("Sign in again")));
    else say(t("The record could not be loaded.") + " ", retryButton(again));
  }

  // Who changed it last, and when

  function showLast(headers) {
    const by = headers.get("X-Changed-By");
    const at = headers.get("X-Changed-At");
    last.hidden = !by;
    if (!by) return;
    const time = element("time", { datetime: at }, at);
    last.replaceChildren(t("Last changed by {person},", { person: decodeURIComponent(by) }) + " ", time);
    showTime(time);
  }

  // A note that was typed and not sent stays with its record while the page is open.
  const drafts = new Map();
  let shown = "";
  const noteField = () => body.querySelector("textarea");
  body.addEventListener("input", ({ target }) => {
    if (target === noteField()) drafts.set(shown, target.value);
  });

  async function load(fragment) {
    asking.abort();
    shown = "";
    asking = new AbortController();
    last.hidden = true;
    say(t("Loading …"));
    try {
      const text = await ask(fragment, { as: "text", signal: asking.signal, headers: showLast });
      const page = new DOMParser().parseFromString(text, "text/html");
      body.replaceChildren(...page.body.childNodes);
      for (const time of body.querySelectorAll("time")) showTime(time);
      for (const field of body.querySelectorAll("[name=list_state]")) field.value = window.list?.state() ?? "";
      const note = noteField();
      if (note && drafts.has(fragment)) note.value = drafts.get(fragment);
      shown = fragment;
    } catch (refusal) {
      explain(refusal.reason, () => load(fragment));
    }
  }

  // The record, and its neighbors in the list

  function neighbor(row, by) {
    const rows = rowsShown();
    const beside = rows[rows.indexOf(row) + by];
    if (beside) return { row: beside, href: list.address(idOf(beside)) };
    const { page, pages } = list.table.page.info();
    return page + by >= 0 && page + by < pages ? { turn: by, href: list.address(idOf(row)) } : null;
  }

  function showRecord(row) {
    const id = idOf(row);
    Object.assign(dialog.dataset, { record: id, version: row.dataset.version, label: row.dataset.label });
    const tag = row.querySelector(".tag");
    dialog.querySelector("[data-detail-name]").replaceChildren(...(tag ? [tag.cloneNode(true), " "] : []), row.dataset.label);
    const n = formatNumber(list.table.page.info().start + rowsShown().indexOf(row) + 1);
    const total = list.matching();
    dialog.querySelector("[data-detail-place]").textContent = " · " + (total ? t("{n} of {total}", { n, total }) : n);
    for (const [name, by] of [["previous", -1], ["next", 1]]) offer(`step=${name}`, neighbor(row, by)?.href);
    offerVerification(row);
    offer("edit", row.querySelector("[data-action=edit]")?.getAttribute("href"));
    offer("action=delete", row.querySelector("[data-action=delete]")?.getAttribute("href"));
    const fragment = row.querySelector("[data-action=view]").getAttribute("href");
    offer("history", `${fragment}/history`);
    offer("copy", [`${list.here}/create?copy=${id}`, list.state()].filter(Boolean).join("&"));
    offer("close", list.address());
    load(fragment);
  }

  function open(row) {
    showRecord(row);
    show();
  }

  function show() {
    if (dialog.open) return;
    dialog.showModal();
    dialog.querySelector("h2").focus();
  }

  // Opening is a step in the browser's history, so that Back closes it; going on to the next record is none.
  function openAnew(row) {
    const before = list.state();
    open(row);
    history.pushState({ over: before }, "", list.address(dialog.dataset.record));
  }

  function step(name) {
    const row = rowOf(dialog.dataset.record);
    const beside = row && neighbor(row, name === "next" ? 1 : -1);
    if (!beside) {
      if (!row) location.assign(steps[name].href);
      return;
    }
    if (beside.row) {
      open(beside.row);
      history.replaceState(history.state, "", list.address(dialog.dataset.record));
    } else {
      waiting = beside.turn > 0 ? "first" : "last";
      asking.abort();
      say(t("Loading …"));
      list.table.page(beside.turn > 0 ? "next" : "previous").draw("page");
    }
    if (steps[name].hidden) dialog.querySelector(".btn-close").focus();
  }

  document.querySelector("#records")?.addEventListener("list:drawn", () => {
    const row = waiting && rowsShown().at(waiting === "first" ? 0 : -1);
    waiting = "";
    if (!row) return;
    open(row);
    history.replaceState(history.state, "", list.address(dialog.dataset.record));
  });
  document.querySelector("#records")?.addEventListener("list:trouble", ({ detail }) => {
    if (waiting) explain(detail, () => list.table.draw("page"));
  });

  // The browser's Back and Forward
  document.querySelector("#records")?.addEventListener("list:view", ({ detail: id }) => {
    if (!id && dialog.open) {
      isGoingBack = true;
      dialog.close();
    } else if (id && rowOf(id)) {
      open(rowOf(id));
    } else if (id) {
      location.reload(); // the server shows it
    }
  });

  document.addEventListener("click", (event) => {
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!isPlain || event.defaultPrevented) return;
    const row = event.target.closest("#records tbody tr[id]");
    const isOpener = event.target.closest("a[data-view]");
    const isElsewhere = !row || event.target.closest("a, button, input, label, .col-select, .in-place") || !getSelection().isCollapsed;
    if (!isOpener && isElsewhere) return;
    event.preventDefault();
    openAnew(row);
  });

  dialog.addEventListener("click", (event) => {
    const stepped = event.target.closest("[data-step]");
    // A click on the backdrop is a click on the dialog element itself.
    if (event.target !== dialog && !stepped && !event.target.closest("[data-close]")) return;
    event.preventDefault();
    if (stepped) step(stepped.dataset.step);
    else dialog.close();
  });

  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.matches("textarea")) return; // the arrows move the cursor there
    const name = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (!name) return;
    event.preventDefault();
    if (!steps[name].hidden) step(name);
  });

  dialog.addEventListener("close", () => {
    asking.abort();
    waiting = "";
    const id = dialog.dataset.record;
    dialog.dataset.record = "";
    if (!isGoingBack && window.list) {
      // Back to the step before, when nothing else has changed since; else the address is put right.
      if (history.state?.over === list.state()) list.back();
      else history.replaceState(null, "", list.address());
    }
    isGoingBack = false;
    // The reader may be elsewhere already, and the list may have been drawn anew below the dialog.
    const now = document.activeElement;
    if (now !== document.body && !now.closest("#records, #detail")) return;
    (rowOf(id)?.querySelector("a[data-view]") ?? document.querySelector("#records") ?? document.querySelector("#main")).focus();
  });

  // A shared link: the server has put the record in already.
  if (dialog.open) {
    dialog.removeAttribute("open");
    show();
  }
})();
