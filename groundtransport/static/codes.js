// Recovery codes: copied or printed with one click.
(() => {
  const copy = document.querySelector("[data-copy]");
  const print = document.querySelector("[data-print]");

  if (navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      const codes = [...document.querySelectorAll("#codes code")].map((code) => code.textContent);
      try {
        await navigator.clipboard.writeText(codes.join("\n"));
        copy.textContent = t("Copied");
      } catch {
        copy.textContent = t("The browser did not allow it");
      }
    });
  }
  print.hidden = false;
  print.addEventListener("click", () => globalThis.print());
})();
