// Shows what `explore` finds for the input of the form, which the fragment of the address holds. Texts are set as text.
const at = (id) => document.getElementById(id);
const el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat(Infinity).filter((child) => child));
  return made;
};
const code = (words) => el("code", {}, words);
const capital = (words) => words[0].toUpperCase() + words.slice(1);
const soft = (words) => words && el("span", { class: "soft" }, words);
const chip = (words, kind) => el("span", { class: `chip ${kind}` }, words);
const to = (section, id, words = id) => el("a", { href: `index.html#${section}-${encodeURIComponent(id)}` }, words);
const listed = (items, between = ", ") => items.flatMap((item, i) => (i ? [between, item] : [item]));
const row = (...cells) => el("tr", {}, cells.map((cell) => el("td", {}, cell)));
const table = (id, rows, ...head) => el("div", { class: "scroll" }, el("table", { id },
  el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows)));
const AGREEMENT = { bits: "same bits", values: "same value", differs: "another value" };
const agreement = (one) => one && chip(AGREEMENT[one], `r-${one}`);

const number = (value, type) => type.width ? [code(decimal(value, type)), " ", soft(code(bitsText(value, type)))] : code(decimal(value, type));
const notations = (value, type) => [decimal(value, type), type.family === "float" && hexFloat(value, type), type.width && bitsText(value, type)];

const allowed = ({ numbers, anyNaN }, type) =>
  listed([...numbers.map((y) => number(y, type)), ...(anyNaN ? ["any NaN"] : [])], " or ");

const sections = {
  result: ({ values, due, classes, ...found }, type) => {
    const call = `${data.operator}(${values.map((v) => decimal(v, type)).join(", ")}) = ${decimal(due, type)}`;
    const named = [...values.map((v, i) => [data.operands[i].id, v]), [data.result, due]];
    const the = data.cases[found.case], parts = classes.map((id) => [id, data.classes[id]]);
    at("result").textContent = call;
    return [table("notations", named.map(([name, v]) => row(name, ...notations(v, type).filter((n) => n).map(code))),
        "", "Decimal", ...(type.family === "float" ? ["Hex float"] : []), ...(type.width ? ["Bits"] : [])),
      el("div", { class: "why" },
        el("section", {}, el("h2", {}, "Case ", to("cases", found.case)), el("p", {}, `${capital(the.title)}: the result is ${the.result}, bit for bit.`),
          el("p", {}, code(the.when))),
        parts.map(([id, c]) => el("section", {}, el("h2", {}, "Class ", to("classes", id)), el("p", {}, `${capital(c.title)}: ${c.matters}.`), el("p", {}, code(c.when)))))];
  },

  acceptable: ({ due, accepted }, type) => {
    const other = accepted.map(({ latitude, answer }) => row(answer ? number(answer, type) : "any NaN",
      ["latitude ", to("latitude", latitude)], data.latitude[latitude]));
    return [el("h2", {}, "Acceptable results"),
      table("acceptable", [row(number(due, type), "the cases", ""), ...other], "Result", "By", "Why"),
      !other.length && el("p", { class: "soft" }, "No other result is acceptable.")];
  },

  readings: ({ readings }, type) => [el("h2", {}, "Readings"),
    el("p", { class: "soft" }, "What other meanings of the prose, the formula or a library allow here, compared with the cases."),
    table("readings", readings.map((r) => row(to("readings", r.id), allowed(r, type), agreement(r.agreement), soft(data.readings[r.id]))),
      "Reading", "Allows", "Agreement", "What it is")],

  dialects: ({ dialects }, type) => {
    const taking = dialects.filter(({ id }) => data.dialects[id].types.includes(type.id));
    const others = dialects.filter((d) => !taking.includes(d));
    const notes = (d) => listed([
      ...d.used.flatMap((v, i) => (d.changed[i] ? [[`${data.operands[i].id} becomes `, number(v, type)]] : [])),
      ...(d.allowed.numbers.length + d.allowed.anyNaN > 1 || !d.allowed.all.some((y) => identical(y, d.result)) || d.allowed.anyNaN
        ? [["its words allow ", allowed(d.allowed, type)]] : [])], "; ");
    return [el("h2", {}, "Dialects"),
      el("p", { class: "soft" }, "The answer of each versioned definition, without ScaleBias, compared with the cases. A bound that is given as a FLOAT is rounded to one and converted back."),
      table("dialects", taking.map((d) => d.refused ? row(to("dialects", d.id), soft("none"), "", soft(d.refused))
        : row(to("dialects", d.id), number(d.result, type), agreement(d.agreement), notes(d))),
      "Dialect", "Answer", "Agreement", "Bounds, and what the words leave open"),
      others.length > 0 && el("p", { class: "soft" }, `Do not take ${type.id}: `, listed(others.map((d) => to("dialects", d.id))))];
  },

  runtimes: ({ classes }, type) => {
    const verdict = (r) => r.verdicts[type.id]?.[classes[0]] ?? "not run";
    const none = ["conforms", "not run", "unsupported"];
    const deviate = data.runtimes.filter((r) => !none.includes(verdict(r)));
    const rows = deviate.map((r) => {
      const recorded = r.deviations.filter(([t, c]) => t === type.id && c === classes[0]);
      return row([r.name, " ", soft(r.about)], chip(verdict(r), `v-${verdict(r).replaceAll(" ", "-")}`),
        recorded.map(([, , how, shown, beside]) => el("div", {}, `${how}: `, code(shown), soft(beside && ` ${beside}`))));
    });
    const others = none.map((word) => [word, data.runtimes.filter((r) => verdict(r) === word).map((r) => r.name)]);
    return [el("h2", {}, "Runtimes in this class"),
      rows.length > 0 && table("runtimes", rows, "Runtime", "Verdict", "First recorded deviation in the class"),
      el("p", { class: "soft" }, type.width
        ? [!rows.length && "No recorded deviation. ", others.filter(([, names]) => names.length).map(([word, names]) => `${capital(word)}: ${names.join(", ")}. `),
          el("a", { href: "index.html#runtimes" }, "Lines that reproduce them")]
        : `No runtime has ${type.id} numbers.`)];
  },

  obligations: ({ classes, ...found }, type) => {
    const ids = [found.case, ...classes];
    const these = data.obligations[type.id].filter(([, , , , shows]) => shows.some((id) => ids.includes(id)));
    const line = ([id, title, , status, shows]) => row(to("o", id), title, chip(status, `s-${status.replaceAll(" ", "-")}`), listed(shows.filter((id) => ids.includes(id))));
    const kernels = these.filter(([, , kernel]) => kernel);
    return [el("h2", {}, "Obligations behind the result"),
      table("obligations", these.filter(([, , kernel]) => !kernel).map(line), "Obligation", "Title", "Status", "Shows"),
      kernels.length && el("details", {}, el("summary", {}, `${kernels.length} obligations: the C and NumPy kernels compute ${data.operator}`),
        table("kernels", kernels.map(line), "Obligation", "Title", "Status", "Shows"))];
  },
};

const form = at("input"), field = ({ key }) => at(`operand-${key}`);

function message(text, operand) {
  at("message").hidden = !text;
  at("message").textContent = text;
  for (const id of ["result", "found"]) at(id).classList.toggle("stale", Boolean(text));
  for (const one of data.operands) field(one).setAttribute("aria-invalid", String(one === operand));
}

// The operands of the form; the message names the first that is none.
function read(type) {
  const values = [];
  for (const operand of data.operands) {
    const text = field(operand).value;
    try {
      values.push(operand.scalar && !text.trim() ? null : parse(text, type));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return void message(`${operand.id}: ${error.message}`, operand);
    }
  }
  message("");
  return values;
}

function show() {
  const type = data.types[at("type").value], values = read(type);
  if (!values) return;
  const found = explore(type, values);
  const missing = data.operands.filter((_, i) => values[i] === null);
  if (!found.due) at("result").textContent = missing.map(({ id, required }) => required ?? `${id} is missing`).join("; ");
  const shown = found.due ? Object.values(sections) : [sections.dialects];
  at("found").replaceChildren(...shown.flatMap((render) => render(found, type)).filter((part) => part));
}

// Only the classes of the family are offered, and its constants named.
function offer() {
  const type = data.types[at("type").value];
  const own = Object.entries(data.classes).filter(([, c]) => c.families.includes(type.family));
  at("class").replaceChildren(el("option", { value: "" }, "…"), ...own.map(([id, c]) => el("option", { value: id }, `${id}: ${c.title}`)));
  at("names").textContent = type.names.join(", ") || "none";
}

function write() {
  const parts = [["type", at("type").value], ...data.operands.map((o) => [o.key, field(o).value.trim()])];
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
}

function changed() { write(); show(); }

// Fill the form from the address, or by the first class of its type.
function load() {
  const given = new URLSearchParams(location.hash.slice(1));
  const wanted = given.get("type");
  at("type").value = wanted in data.types ? wanted : at("type").value;
  offer();
  for (const operand of data.operands) field(operand).value = given.get(operand.key) ?? "";
  show();
  if (wanted && !(wanted in data.types))
    message(`unknown element type \`${wanted}\`; choose from: ${Object.keys(data.types).join(", ")}`);
}

function fill(id) {
  data.classes[id].at.forEach((text, i) => { field(data.operands[i]).value = text; });
}

const ready = (async () => {
  const packed = Uint8Array.from(atob(at("data").textContent), (c) => c.charCodeAt(0));
  data = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  prepare(data);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const operand of data.operands) field(operand).addEventListener("input", () => { at("class").value = ""; changed(); });
  at("type").addEventListener("change", () => { offer(); changed(); });
  at("class").addEventListener("change", (event) => { if (event.target.value) { fill(event.target.value); changed(); } });
  addEventListener("hashchange", load);
  if (location.hash.length > 1) return load();
  at("type").value = Object.entries(data.types).find(([, t]) => t.family === "float")?.[0] ?? at("type").value;
  offer();
  fill(at("class").options[1].value);
  changed();
})();
