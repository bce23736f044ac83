// The words of the scripts: t("{name} was saved", { name }) in the page's language. The English text is the key;
// a catalogue for another language (vendor/texts.LANGUAGE.js) is loaded before and fills `texts`.
globalThis.t = (text, values = {}) =>
  (globalThis.texts?.[text] || text).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

// A count in the page's language, as the server writes it: Spanish separates four digits, too.
globalThis.formatNumber = (number) =>
  new Intl.NumberFormat(document.documentElement.lang, { useGrouping: "always" }).format(number);
