// The page of the API: Swagger UI shows the OpenAPI document. The token is kept in the page's memory alone.
(() => {
  const place = document.querySelector("#api");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  // Swagger UI has a dark theme of its own, under a class of the root element.
  const applyTheme = () => {
    root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  };

  applyTheme();
  system.addEventListener("change", applyTheme);
  new MutationObserver(applyTheme).observe(root, { attributeFilter: ["data-theme"] });

  globalThis.SwaggerUIBundle({
    url: place.dataset.document,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    persistAuthorization: false,
    requestInterceptor: (request) => ({ ...request, credentials: "omit" }),
  });
})();
