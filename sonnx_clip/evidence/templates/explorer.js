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
// A link to index.html, where the ids of another operator begin with its name; obligations have it in their ids here.
const to = (section, id, words = id) => {
  const prefix = section === "o" ? "" : data.prefix;
  return el("a", { href: `index.html#${section}-${encodeURIComponent(prefix + id)}` }, words);
};
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
  outside: ({ outside }, type) => outside && [el("p", {},
    `${data.title} is not defined for this input: ${data.domain[type.functions]}. Any result conforms.`)],

  result: ({ values, due, classes, ...found }, type) => {
    if (!due) return [];
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
    if (!due) return [];
    const other = accepted.map(({ latitude, answer }) => row(answer ? number(answer, type) : "any NaN",
      ["latitude ", to("latitude", latitude)], data.latitude[latitude]));
    return [el("h2", {}, "Acceptable results"),
      table("acceptable", [row(number(due, type), "the cases", ""), ...other], "Result", "By", "Why"),
      !other.length && el("p", { class: "soft" }, "No other result is acceptable.")];
  },

  readings: ({ readings }, type) => readings && [el("h2", {}, "Readings"),
    el("p", { class: "soft" }, "What other meanings of the prose, the formula or a library allow here, compared with the cases."),
    table("readings", readings.map((r) => row(to("readings", r.id), allowed(r, type), agreement(r.agreement), soft(data.readings[r.id]))),
      "Reading", "Allows", "Agreement", "What it is")],

  dialects: ({ dialects }, type) => {
    if (!dialects.length) return [];
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
    if (!classes || !data.runtimes.length) return [];
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
    if (!classes) return [];
    if (!data.obligations[type.id]) return [el("p", {}, `${data.title} was not proved in this evidence.`)];
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

// --- A rewrite ------------------------------------------------------------------------------------------------

const WORDS = { bits: "bit for bit", value: "by value", numbers: "where X is a number" };
const rewriteLink = (id, words) => el("a", { href: `index.html#rewrites-${encodeURIComponent(id)}` }, words);
const valueOr = (value, type) => (value ? number(value, type) : "not defined");

// The verdict by the proved condition, or else by the values of X that were tried.
function verdictOf({ stated, differs }) {
  if (stated === false) return chip("not legal", "r-differs");
  if (stated) return chip("legal", "r-bits");
  return differs ? chip("not legal", "r-differs") : chip("no X differs", "r-bits");
}

function basisOf({ strength, stated }, rewrite, type, covered) {
  const text = (rewrite.legal_when[rewrite.families[type.id]] ?? {})[strength];
  if (stated !== null) return ["condition: ", ["always", "never"].includes(text) ? `${text} legal` : code(text)];
  return soft(text && !covered ? "the condition is not about these constants; values of X were tried" : "no condition is stated; values of X were tried");
}

function showRewrite(rewrite, type, values) {
  const constants = Object.fromEntries(rewrite.constants.map((name, i) => [name, values[i]]));
  const { covered, points, strengths } = decide(rewrite, constants, type);
  const legal = strengths.filter((one) => one.stated ?? !one.differs).map(({ strength }) => WORDS[strength]);
  at("result").textContent = `${rewrite.before} \u2192 ${rewrite.after}: ${legal.length ? `legal ${legal.join(", ")}` : "not legal"}`;
  const row_ = (one) => row(WORDS[one.strength], verdictOf(one), basisOf(one, rewrite, type, covered),
    one.differs ? number(one.differs.x, type) : soft("none found"),
    one.differs ? valueOr(one.differs.before, type) : "", one.differs ? valueOr(one.differs.after, type) : "");
  const x = values.at(-1), sides = x && sidesOf(rewrite, { ...constants, X: x }, type);
  return [
    el("p", {}, rewriteLink(rewrite.id, `${capital(rewrite.title)}: the entry and its proofs`)),
    rewrite.given && el("p", {}, "Conditions are exact for constants with ", code(rewrite.given), covered ? ": so it is here." : ": not so here."),
    el("h2", {}, "Is it legal for these constants?"),
    table("legal", strengths.map(row_), "Equal", "Verdict", "By", "An X that differs", "Before", "After"),
    el("p", { class: "soft" }, `${points} values of X were tried: constants, their neighbours, zeros, ends and NaNs.`),
    el("h2", {}, "Both sides"),
    sides ? table("sides", [["before", rewrite.before, sides.before], ["after", rewrite.after, sides.after]].map(([name, term, value]) =>
      row(name, code(term), valueOr(value, type))), "Side", "Term", "Result")
      : el("p", { class: "soft" }, "Enter an X to see the result of each side."),
    el("p", {}, rewrite.why),
    rewrite.seen.length > 0 && el("p", { class: "soft" }, `Seen in ${rewrite.seen.join("; ")}.`),
  ];
}

// --- The form -------------------------------------------------------------------------------------------------

const form = at("input"), field = ({ key }) => at(`operand-${key}`);
let scopes, rewrite; // the operators by name, and the rewrite that is shown, if one is
const X = { id: "X", key: "X", onnx: "X", required: null, optional: true };
const operandsOf = () => rewrite
  ? [...rewrite.constants.map((name) => ({ id: name, key: name, onnx: name })), X] : data.operands;
const typesOf = () => Object.keys(data.types).filter((id) => !rewrite || id in rewrite.families);

function message(text, operand) {
  at("message").hidden = !text;
  at("message").textContent = text;
  for (const id of ["result", "found"]) at(id).classList.toggle("stale", Boolean(text));
  for (const one of operandsOf()) field(one).setAttribute("aria-invalid", String(one.key === operand?.key));
}

// The operands of the form; the message names the first that is none.
function read(type) {
  const values = [];
  for (const operand of operandsOf()) {
    const text = field(operand).value;
    try {
      values.push((operand.scalar || operand.optional) && !text.trim() ? null : parse(text, type));
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
  const parts = rewrite ? showRewrite(rewrite, type, values) : showOperator(type, values);
  at("found").replaceChildren(...parts.flat().filter((part) => part));
}

function showOperator(type, values) {
  const found = explore(type, values);
  const missing = data.operands.filter((_, i) => values[i] === null);
  if (found.outside) at("result").textContent = "not defined";
  else if (!found.due) at("result").textContent = missing.map(({ id, required }) => required ?? `${id} is missing`).join("; ");
  const shown = missing.length ? [sections.dialects] : Object.values(sections);
  return shown.flatMap((render) => render(found, type));
}

// The fields of an operator or of a rewrite, and its element types.
function choose(name) {
  const before = at("type").value;
  data = scopes[name] ?? scopes.rewrites;
  rewrite = name in scopes ? undefined : { id: name, ...data.rewrites[name] };
  at("operator").value = name;
  at("operands").replaceChildren(...operandsOf().map((o) => el("label", {}, o.id,
    (o.onnx !== o.id || o.scalar) && [" ", soft(o.onnx)], o.optional && [" ", soft("may be empty")],
    el("input", { id: `operand-${o.key}`, spellcheck: "false", autocapitalize: "none", "aria-describedby": "how message" }))));
  for (const operand of operandsOf()) field(operand).addEventListener("input", () => { at("class").value = ""; changed(); });
  at("type").replaceChildren(...typesOf().map((id) => el("option", {}, id)));
  at("type").value = typesOf().includes(before) ? before : firstType();
  at("classes").hidden = Boolean(rewrite);
}

const firstType = () => typesOf().find((id) => data.types[id].family === "float") ?? typesOf()[0];

// Only the classes of the family are offered, and its constants named.
function offer() {
  const type = data.types[at("type").value];
  const own = Object.entries(data.classes ?? {}).filter(([, c]) => c.families.includes(type.functions));
  at("class").replaceChildren(el("option", { value: "" }, "\u2026"), ...own.map(([id, c]) => el("option", { value: id }, `${id}: ${c.title}`)));
  at("names").textContent = type.names.join(", ") || "none";
}

function write() {
  const chosen = rewrite ? [["rewrite", rewrite.id]] : data === Object.values(scopes)[0] ? [] : [["operator", data.operator]];
  const parts = [...chosen, ["type", at("type").value], ...operandsOf().map((o) => [o.key, field(o).value.trim()])];
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
}

function changed() { write(); show(); }

// Fill the form from the address: its numbers, or those of a class, or else of an example.
function load() {
  const given = new URLSearchParams(location.hash.slice(1));
  const name = given.get("rewrite") ?? given.get("operator") ?? Object.keys(scopes)[0];
  const isKnown = name in scopes.rewrites.rewrites || (name in scopes && name !== "rewrites");
  choose(isKnown ? name : Object.keys(scopes)[0]);
  const wanted = given.get("type"), hasType = typesOf().includes(wanted), klass = given.get("class");
  const type = klass && data.classes?.[klass] && typesOf().find((id) => data.classes[klass].families.includes(data.types[id].functions));
  at("type").value = hasType ? wanted : type || firstType();
  offer();
  const numbers = operandsOf().filter(({ key }) => given.has(key));
  for (const operand of numbers) field(operand).value = given.get(operand.key);
  if (!numbers.length) example(klass);
  show();
  if (!isKnown) message(`unknown operator or rewrite \`${name}\`; choose one from the list`);
  else if (wanted && !hasType) message(`unknown element type \`${wanted}\`; choose from: ${typesOf().join(", ")}`);
}

// Numbers to begin with: of a class, of the first class of the type, or constants in order.
function example(klass) {
  if (rewrite) rewrite.constants.forEach((name, i) => { field({ key: name }).value = `${i}`; });
  else fill(data.classes[klass] ? klass : at("class").options[1].value);
}

function fill(id) {
  data.classes[id].at.forEach((text, i) => { field(data.operands[i]).value = text; });
}

const ready = (async () => {
  const packed = Uint8Array.from(atob(at("data").textContent), (c) => c.charCodeAt(0));
  ({ scopes } = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json());
  Object.values(scopes).forEach(prepare);
  form.addEventListener("submit", (event) => event.preventDefault());
  at("operator").addEventListener("change", (event) => { choose(event.target.value); offer(); example(); changed(); });
  at("type").addEventListener("change", () => { offer(); changed(); });
  at("class").addEventListener("change", (event) => { if (event.target.value) { fill(event.target.value); changed(); } });
  addEventListener("hashchange", load);
  const isEmpty = location.hash.length < 2;
  load();
  if (isEmpty) write();
})();
