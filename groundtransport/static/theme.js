// Light or dark, as the system wishes; paper is always light. It runs before the page is painted, so it stays tiny.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = (theme) => document.documentElement.setAttribute("data-bs-theme", theme);
  const follow = () => show(dark.matches ? "dark" : "light");
  follow();
  dark.addEventListener("change", follow);
  addEventListener("beforeprint", () => show("light"));
  addEventListener("afterprint", follow);
})();
