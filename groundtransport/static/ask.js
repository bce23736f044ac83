// Asking the server: one way to fetch that knows a signed-out session, a deleted record and a dead line apart.
(() => {
  const TIMEOUT = 15_000; // ms; a browser by itself would wait for minutes

  class Refusal extends Error {
    constructor(reason, words = reason) {
      super(words); // of a "refused" request: why, in the reader's language
      this.reason = reason; // "signed-out", "gone", "refused", "failed", or "dropped" when the caller itself gave up
    }
  }

  // Return the answer as "json" or "text", its headers going to `headers`; throw a Refusal. The time-out covers the body, too.
  window.ask = async (address, { as = "json", signal = new AbortController().signal, method = "GET", send = {}, headers = () => {} } = {}) => {
    const accept = as === "json" ? "application/json" : "text/html";
    try {
      const response = await fetch(address, {
        method,
        headers: { Accept: accept, ...send },
        redirect: "manual", // a redirect leads to the sign-in page, whose HTML is no answer
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
      });
      if (response.type === "opaqueredirect") throw new Refusal("signed-out");
      if (response.status === 404) throw new Refusal("gone");
      if (response.status === 422 && as === "json") throw new Refusal("refused", (await response.json()).detail);
      if (!response.ok) throw new Refusal("failed");
      const answer = await response[as]();
      headers(response.headers);
      return answer;
    } catch (error) {
      if (signal.aborted) throw new Refusal("dropped");
      throw error instanceof Refusal ? error : new Refusal("failed");
    }
  };

  // Return the address of the sign-in page that leads back to where the reader is now.
  window.signInAddress = () => `/login?next=${encodeURIComponent(location.pathname + location.search)}`;

  // Return an element with attributes and children; a text child stays text.
  window.element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
})();
