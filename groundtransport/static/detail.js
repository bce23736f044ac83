// The detail dialog: a "View" link shows its record over the list; without this script it leads to the record itself.
(() => {
  const dialog = document.querySelector("#detail");
  if (!dialog) return;
  const body = dialog.querySelector(".detail-body");
  const edit = dialog.querySelector("[data-edit]");
  const history = dialog.querySelector("[data-history]");
  let asking = new AbortController();
  let opener = null;

  function say(words, ...more) {
    body.replaceChildren(element("p", { class: "detail-state" }, words, ...more));
  }

  function retryButton(address) {
    const button = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, "Try again");
    button.addEventListener("click", () => {
      dialog.querySelector(".btn-close").focus();
      load(address);
    });
    return button;
  }

  function explain(reason, address) {
    if (reason === "dropped") return;
    edit.hidden = true;
    history.hidden = true;
    if (reason === "gone") say("This record was deleted.");
    else if (reason === "signed-out") say("You are signed out. ", element("a", { href: signInAddress() }, "Sign in again"));
    else say("The record could not be loaded. ", retryButton(address));
  }

  async function load(address) {
    asking.abort();
    asking = new AbortController();
    showEdit();
    say("Loading ...");
    try {
      const fragment = await ask(address, { as: "text", signal: asking.signal });
      const page = new DOMParser().parseFromString(fragment, "text/html");
      body.replaceChildren(...page.body.childNodes);
    } catch (refusal) {
      explain(refusal.reason, address);
    }
  }

  function showEdit() {
    const link = opener.closest("tr")?.querySelector("[data-action=edit]");
    edit.hidden = !link;
    if (link) edit.href = link.href;
    history.hidden = false;
    history.href = `${opener.getAttribute("href")}/history`;
  }

  function showName() {
    const tag = opener.closest("tr")?.querySelector(".tag");
    const name = opener.getAttribute("aria-label").replace(/^View /, "");
    dialog.querySelector("[data-detail-name]").replaceChildren(...(tag ? [tag.cloneNode(true), " "] : []), name);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-view]");
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isPlain) return;
    event.preventDefault();
    opener = link;
    showName();
    dialog.showModal();
    load(link.href);
  });

  // A click on the backdrop is a click on the dialog element itself.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  dialog.addEventListener("close", () => {
    asking.abort();
    const row = opener.closest("tr");
    // The list may have been drawn anew below the dialog.
    const link = opener.isConnected ? opener : document.querySelector(`#${row.id} [data-view]`);
    link?.focus();
  });
})();
