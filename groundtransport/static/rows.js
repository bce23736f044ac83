// What the list's answers become on the page: text and nodes only, never a string that could be read as HTML.
// What was searched is marked as records/list/highlight.py marks it; keep the two alike.
(() => {
  const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/gu;
  const PHONE = /^[0-9+()./ -]*[0-9][0-9+()./ -]*$/;
  // Letters that NFKD leaves as they are, after what they are folded to, as in text.py.
  const LETTERS = `
a ᴀᶏⱥ aa ꜳ ae æᴁ ao ꜵ au ꜷ av ꜹꜻ ay ꜽ b ƀƃɓʙᴃᵬᶀ c ƈȼɕᴄꞓ d ðđƌȡɖɗᴅᴆᵭᶁᶑꝱꝺ db ȸ dz ʣʥ e əǝɇɛᴇᶒᶓⱸ f ƒᵮᶂꜰꝼ g ǥɠɡɢʛᶃꞡ
h ħɦɧʜⱨ hv ƕ i ıɨɩɪᵻᶖ j ȷɉɟʝᴊ k ƙᴋᶄⱪꝁꝃꝅꞣ l łƚȴɫɬɭʟᴌᶅⱡꝇꝉꝲ ll ỻ ls ʪ lz ʫ m ɱᴍᵯᶆꝳ n ŋƞȵɲɳɴᵰᶇꝴꞑꞥ o øᴏⱺꝋꝍ oe œɶ oi ƣ oo ꝏ
p ƥᴘᵱᵽᶈꝑꝓꝕ q ĸʠꝗꝙ qp ȹ r ɍɼɽɾʀᵲᵳᶉꝵꝶꞧ s ȿʂᵴᶊẜẝꜱꞩ t ŧƫƭȶʈᴛᵵⱦꝷꞇ th þᵺꝥꝧ ts ʦ u ʉᴜᵾᶙ ue ᵫ v ʋᴠᶌỽⱱⱴꝟ vy ꝡ w ᴡⱳ x ᶍ
y ƴɏʏỿ z ƶȥɀʐʑᴢᵶᶎⱬ - ‐‒–—―−˗ " “”„‟″
`;
  const IGNORED = "'`‘’‛′ʹʻʼʽʾʿˈꞌ·\u00ad";
  const asciiOf = new Map([...IGNORED].map((char) => [char, ""]));
  for (const [, to, letters] of LETTERS.matchAll(/(\S+) (\S+)/gu)) for (const letter of letters) asciiOf.set(letter, to);

  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "");

  // The digits of each script begin at a code point that ends in 0 or, where that is no digit, in 6.
  function asciiDigit(char) {
    const code = char.codePointAt(0);
    const last = code & 15;
    return String(/\p{Nd}/u.test(String.fromCodePoint(code - last)) ? last : last - 6);
  }

  function fold(text) {
    // Upper case first: it takes ß apart, as casefold does.
    const letters = plain(plain(text.replace(CONTROL, " ").replace(/[\u00b4\u1ffd]/g, "")).toUpperCase().toLowerCase());
    return [...letters].map((char) => asciiOf.get(char) ?? char).join("").replace(/(?![0-9])\p{Nd}/gu, asciiDigit);
  }

  const digits = (text) => text.replace(/[^0-9]/g, "");

  // Marks

  function mark(hits, folded, term) {
    const line = folded.map(([char]) => char).join("");
    for (let start = term ? line.indexOf(term) : -1; start >= 0; start = line.indexOf(term, start + term.length)) {
      hits.fill(true, folded[start][1], folded[start + term.length - 1][1] + 1);
    }
  }

  // Return a text as nodes, with a <mark> around what matches one of the folded terms.
  function marked(text, terms, isPhone = false) {
    const chars = [...text];
    const hits = chars.map(() => false);
    // By code unit, as indexOf counts.
    const folded = chars.flatMap((char, index) => fold(char).split("").map((one) => [one, index]));
    for (const term of terms) {
      mark(hits, folded, term);
      if (isPhone && PHONE.test(term)) mark(hits, folded.filter(([one]) => /[0-9]/.test(one)), digits(term));
    }
    const nodes = [];
    for (let start = 0, end = 1; end <= chars.length; end += 1) {
      if (end < chars.length && (hits[end] === hits[start] || !fold(chars[end]))) continue;
      const piece = chars.slice(start, end).join("");
      nodes.push(hits[start] ? element("mark", {}, piece) : piece);
      start = end;
    }
    return together(...nodes);
  }

  // Return what is looked for in a column, folded: each word of the search, and the filters as they are.
  function terms(header, form) {
    return header.dataset.searchParams
      .split(" ")
      .flatMap((name) => {
        const value = fold(form.elements[name]?.value ?? "").trim();
        return name === "q" ? value.split(/\s+/) : [value];
      })
      .filter(Boolean);
  }

  // Cells

  function together(...nodes) {
    const fragment = document.createDocumentFragment();
    fragment.append(...nodes);
    return fragment;
  }

  function telephone(value) {
    const [number, ...extension] = value.toLowerCase().split(/;ext=|ext(?:ension|n)?\.?|x|#/);
    const plus = number.trim().startsWith("+") ? "+" : "";
    return `tel:${plus}${[digits(number), digits(extension.join(""))].filter(Boolean).join(";ext=")}`;
  }

  const shownAs = {
    text: (value, words) => marked(value, words),
    airport: (value, words, label, text, isLink) => {
      const code = value.slice(-4, -1);
      const tag = isLink ? { class: "tag", translate: "no" } : { class: "tag", translate: "no", href: `/admin/airports/${code}` };
      return together(element(isLink ? "span" : "a", tag, marked(code, words)), " ", marked(value.slice(0, -6), words));
    },
    phone: (value, words) => element("a", { href: telephone(value) }, marked(value, words, true)),
    display: (value, words, label, text) => marked(text, words),
    moment: (value) => {
      const time = element("time", { datetime: value }, value);
      showTime(time);
      return time;
    },
    choice: (value, words, label) => element("span", { class: `badge status-${value}` }, label(value)),
  };

  // The field that the kind declares as its label; not each has one.
  const labelField = document.querySelector("#records")?.dataset.labelField;
  const labelOf = (row) => row[labelField] || row.airport_name;

  function actions(row) {
    const one = { name: labelOf(row) };
    const words = { view: t("View"), edit: t("Edit"), verify: t("Mark as verified"), delete: t("Delete") };
    const labels = { view: t("View {name}", one), edit: t("Edit {name}", one), verify: t("Mark as verified: {name}", one), delete: t("Delete {name}", one) };
    const links = Object.entries(row.actions).map(([name, address]) => {
      const shared = { "data-action": name, title: words[name], "aria-label": labels[name] };
      if (name === "verify") return element("button", { form: "verify", formaction: address, name: "version", value: row.version, ...shared }, words[name]);
      const link = element("a", { href: address, ...shared }, words[name]);
      if (name === "view") link.setAttribute("data-view", "");
      return link;
    });
    return together(...links.flatMap((link) => [link, " "]));
  }

  function box(row) {
    const label = t("Select {name}", { name: labelOf(row) });
    const value = `${row.id}.${row.version}`;
    return element("input", { type: "checkbox", name: "record", value, form: "several", "aria-label": label });
  }

  // A record that is not valid today: in place of its active status, or after its name where the kind has none.
  const { statusField, active, markedField } = document.querySelector("#records")?.dataset ?? {};
  const states = { not_yet: t("Not yet valid"), ended: t("Ended") };
  const badge = ({ validity }) => element("span", { class: `badge status-${validity}` }, states[validity]);
  const withState = (name, row, node, isLink) => {
    if (!(row.validity in states)) return node;
    if (!statusField) return isLink ? together(node, " ", badge(row)) : node;
    return name === statusField && row[name] === active ? badge(row) : node;
  };

  const withMark = (name, row, node) => {
    if (!row.other_place || name !== markedField) return node;
    return together(node, " ", element("span", { class: "badge gap" }, t("Another place")));
  };

  // Return the node of a cell; `isLink` makes it open the record.
  function cell(header, value, row, form, isLink) {
    const { name, shownAs: manner } = header.dataset;
    if (name === "actions") return actions(row);
    if (name === "select") return box(row);
    if (value === null || value === "") return document.createTextNode("");
    const label = (code) => [...form.elements[name].options].find((one) => one.value === code)?.text ?? code;
    const made = shownAs[manner](value, terms(header, form), label, row.display?.[name], isLink);
    const shown = withState(name, row, withMark(name, row, made), isLink);
    if (manner === "phone") return shown;
    return isLink ? element("a", { class: "line", href: row.actions.view, "data-view": row.actions.view }, shown) : element("span", { class: "line" }, shown);
  }

  window.rows = { cell, labelOf, together };
})();
