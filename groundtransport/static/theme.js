// Light or dark, as the person chose, else as the system wishes; paper is always light. It runs before the page is painted, so it stays tiny.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = (theme) => document.documentElement.setAttribute("data-bs-theme", theme);
  const follow = () => show(document.documentElement.dataset.theme || (dark.matches ? "dark" : "light"));
  follow();
  dark.addEventListener("change", follow);
  new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  addEventListener("beforeprint", () => show("light"));
  addEventListener("afterprint", follow);
})();
