// A button beside each password that shows what was typed: long passwords are typed right more often when one sees them.
(() => {
  for (const field of document.querySelectorAll("input[type=password]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-outline-secondary";
    button.setAttribute("aria-controls", field.id);
    const show = (shown) => {
      field.type = shown ? "text" : "password";
      button.textContent = shown ? t("Hide") : t("Show");
      button.setAttribute("aria-label", shown ? t("Hide the password") : t("Show the password"));
    };
    show(false);
    button.addEventListener("click", () => show(field.type === "password"));
    // What is sent, and what a browser offers to remember, is a password.
    field.form?.addEventListener("submit", () => show(false));
    const group = document.createElement("div");
    group.className = "reveal";
    field.replaceWith(group);
    group.append(field, button);
    if (field.autofocus) field.focus();
  }
})();
