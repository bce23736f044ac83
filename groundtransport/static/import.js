// The progress of an import, followed until its step is over.
(() => {
  const place = document.querySelector("[data-progress]");
  if (!place) return;
  const bar = place.querySelector("progress");
  const text = place.querySelector("[data-progress-text]");
  const spoken = place.querySelector("[data-progress-spoken]");
  const PAUSE = 1000; // ms between two looks; longer after a failure
  let tenth = 0;

  function show({ done, total }) {
    if (total) {
      bar.max = total;
      bar.value = Math.min(done, total);
      text.textContent = t("{done} of about {total} rows", { done: formatNumber(done), total: formatNumber(total) });
    } else if (done) {
      bar.removeAttribute("value");
      text.textContent = t("{done} rows", { done: formatNumber(done) });
    }
    const now = total ? Math.floor((10 * done) / total) : 0;
    if (now > tenth) spoken.textContent = text.textContent; // a screen reader need not hear every row
    tenth = now;
  }

  async function look() {
    let pause = PAUSE;
    try {
      const progress = await ask(place.dataset.progress);
      if (progress.state !== place.dataset.state || !progress.is_active) return location.reload();
      show(progress);
    } catch (refusal) {
      if (refusal.reason === "signed-out" || refusal.reason === "gone") return location.reload();
      pause = 5 * PAUSE;
    }
    setTimeout(look, pause);
  }
  setTimeout(look, PAUSE / 2);
})();
