// Being signed in: told before it ends. On a page with something to lose, what was typed stays when it has ended.
// `presence.ready()` is asked before a form is sent: it holds when the form can be sent, and has a fresh token by then.
(() => {
  const ADDRESS = "/admin/session";
  const AHEAD = 120_000; // ms of warning
  const LONGEST = 2 ** 31 - 1; // ms that a timer can wait
  const form = document.querySelector("form#record");
  const token = document.querySelector("input[name=csrf_token]");
  if (!token) return;

  const banner = element("div", { class: "presence" });
  if (form) form.before(banner);
  else document.querySelector("#messages").after(banner);
  let trouble = ""; // what the banner is about
  let isLooking = false; // two signs of a sign-in may come at once
  let afterwards = null; // the save that waits for a sign-in
  let timer = 0;

  function show(reason, words, ...actions) {
    trouble = reason;
    banner.replaceChildren();
    if (!words) return;
    const kind = reason === "again" ? "" : " warning";
    banner.append(element("div", { class: `message${kind}`, role: "alert" }, element("span", {}, words), " ", ...actions.flatMap((one) => [one, " "])));
  }

  function button(text, act) {
    const made = element("button", { type: "button", class: "btn btn-sm btn-outline-secondary" }, text);
    made.addEventListener("click", act);
    return made;
  }

  const signIn = () =>
    element("a", { href: "/login?next=/admin/session/again", target: "_blank", class: "btn btn-sm btn-primary" }, t("Sign in in a new tab"));

  // Asking

  async function asked(method = "GET") {
    const send = method === "POST" ? { "X-CSRF-Token": token.value } : {};
    let told;
    const session = await ask(ADDRESS, { method, send, headers: (headers) => (told = headers) });
    const clock = Date.parse(told.get("Date")) || Date.now(); // the server's: ours may be wrong
    return {
      token: session.csrf_token,
      left: Date.parse(session.expires_at) - clock,
      user: decodeURIComponent(told.get("X-Signed-In-As") ?? ""),
    };
  }

  function take(session) {
    for (const field of document.querySelectorAll("input[name=csrf_token]")) field.value = session.token;
    plan(session.left);
  }

  function plan(left) {
    clearTimeout(timer);
    const early = Math.min(AHEAD, left / 2);
    timer = setTimeout(look, Math.min(LONGEST, left > 2 * AHEAD ? left - AHEAD : left - early));
  }

  // Near the end: another tab may have put it off.
  async function look() {
    try {
      const session = await asked();
      if (session.left > AHEAD) return plan(session.left);
      warn(session.left);
    } catch (refusal) {
      if (refusal.reason === "signed-out") sayEnded();
      else timer = setTimeout(look, AHEAD / 4);
    }
  }

  function warn(left) {
    const minutes = Math.max(1, Math.round(left / 60_000));
    const words = minutes === 1 ? t("You will be signed out in a minute.") : t("You will be signed out in {n} minutes.", { n: minutes });
    show("ending", words, button(t("Stay signed in"), stay));
    clearTimeout(timer);
    timer = setTimeout(look, Math.max(1_000, left + 1_000));
  }

  async function stay() {
    try {
      const session = await asked("POST");
      plan(session.left);
      if (session.left > AHEAD) show("again", t("You stay signed in."));
      else if (form) show("ending", t("The longest time to be signed in is nearly over. Save what you have typed."));
      else show("ending", t("The longest time to be signed in is nearly over."));
      (form?.querySelector(".btn-primary") ?? document.querySelector("#main")).focus();
    } catch (refusal) {
      explain(refusal);
    }
  }

  // Trouble

  function sayEnded() {
    if (!form) return show("signed-out", t("You are signed out."), element("a", { href: signInAddress() }, t("Sign in again")));
    show("signed-out", t("You are signed out. What you typed is still here and not saved yet."), signIn(), button(t("Try again"), retry));
  }

  function explain(refusal) {
    if (refusal.reason === "signed-out") sayEnded();
    else if (!form) show("away", t("The server cannot be reached."), button(t("Try again"), stay));
    else show("away", t("The server cannot be reached. What you typed is still here and not saved yet."), button(t("Try again"), retry));
    banner.querySelector("a, button").focus();
  }

  function askWho(user) {
    const save = button(t("Save as {name}", { name: user }), () => {
      form.dataset.user = user;
      retry();
    });
    show("other", t("You are signed in as {name} now. What you typed is not saved yet.", { name: user }), save);
    save.focus();
  }

  function retry() {
    if (afterwards) afterwards();
    else comeBack();
  }

  async function comeBack() {
    try {
      const session = await asked();
      if (session.user !== form.dataset.user) return askWho(session.user);
      take(session);
      show("again", t("You are signed in again. What you typed is still here and not saved yet."));
    } catch (refusal) {
      explain(refusal);
    }
  }

  // After a sign-in in another tab; a save that waited for it goes on, and a list that could not be loaded is.
  async function lookAgain() {
    if (trouble !== "signed-out" || isLooking) return;
    isLooking = true;
    try {
      const session = await asked();
      if (trouble !== "signed-out") return;
      if (!form) {
        take(session);
        show("again", t("You are signed in again."));
        records?.dispatchEvent(new CustomEvent("list:again"));
      } else if (session.user !== form.dataset.user) askWho(session.user);
      else retry();
    } catch {
      // Still signed out, or away: the banner says so.
    } finally {
      isLooking = false;
    }
  }

  // Whether the form can be sent: if not, the banner says why, and `again` is called when it can.
  async function ready(again) {
    afterwards = again;
    try {
      const session = await asked();
      if (session.user !== form.dataset.user) {
        askWho(session.user);
        return false;
      }
      take(session);
      show("", "");
      afterwards = null;
      return true;
    } catch (refusal) {
      explain(refusal);
      return false;
    }
  }

  // Take a fresh token, and return the name of the user who is signed in now; throw a Refusal.
  async function renew() {
    const session = await asked();
    take(session);
    return session.user;
  }

  // The list tells by itself that it could not be loaded.
  const records = document.querySelector("#records");
  records?.addEventListener("list:trouble", ({ detail }) => {
    if (detail === "signed-out") show("signed-out", "");
  });

  window.presence = { ready, renew };
  addEventListener("focus", lookAgain);
  document.addEventListener("visibilitychange", () => document.hidden || lookAgain());
  // Each page of somebody who is signed in tells the other tabs: they need not be looked at to know.
  const tabs = new BroadcastChannel("groundtransport.signed-in");
  tabs.addEventListener("message", lookAgain);
  tabs.postMessage("");
  // A form may have come back from the browser's memory: its server is asked.
  if (form) asked().then((session) => plan(session.left), () => (timer = setTimeout(look, AHEAD)));
  else plan(Number(document.body.dataset.signedInFor) * 1_000);
})();
