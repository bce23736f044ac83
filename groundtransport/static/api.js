// The page of the API: Swagger UI shows the OpenAPI document. The token is kept in the page's memory alone.
(() => {
  const place = document.querySelector("#api");

  globalThis.SwaggerUIBundle({
    url: place.dataset.document,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    persistAuthorization: false,
    requestInterceptor: (request) => ({ ...request, credentials: "omit" }),
  });
})();
