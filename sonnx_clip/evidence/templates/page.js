// Renders the details of the page on demand, from JSON that #data holds compressed. Texts are set as text.
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = await new Response(unpacked).json();

  const el = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.flat(3).filter((child) => child));
    return made;
  };
  const code = (words, kind = "") => el("code", kind ? { class: kind } : {}, words);
  const soft = (words) => words && el("span", { class: "soft" }, words);
  const chip = (words, kind = `s-${words.replaceAll(" ", "-")}`) => el("span", { class: `chip ${kind}` }, words);
  const listed = (items) => items.flatMap((item, i) => (i ? [", ", item] : [item]));
  const row = (...cells) => el("tr", {}, cells.map((cell) => el("td", {}, cell)));
  // On a narrow screen the cells of a row stand below each other, each after the head of its column.
  const labelled = (made) => {
    const heads = [...made.querySelectorAll("thead th")].map((head) => head.textContent);
    for (const line of made.querySelectorAll("tbody tr"))
      [...line.cells].forEach((cell, column) => { if (heads[column] && cell.colSpan === 1) cell.dataset.label = heads[column]; });
    return made;
  };
  const table = (rows, ...head) => el("div", { class: "scroll" }, labelled(el("table", { class: "stack" },
    head.length && el("thead", {}, el("tr", {}, head.map((name) => el("th", {}, name)))),
    el("tbody", {}, rows))));
  document.querySelectorAll("table.stack:not(.argument)").forEach(labelled);

  // Where each id stands: its anchor, and the group that is opened for it.
  const anchors = new Map(Object.entries(data.anchors));
  const groupOf = new Map();
  const shownBy = new Map(); // the obligations of "entry type"
  for (const [group, entries] of Object.entries(data.entries))
    for (const { section, id } of entries) groupOf.set(`${section}-${id}`, ["entries", group]);
  for (const [subject, obligations] of Object.entries(data.obligations)) {
    const type = subject.split(":").pop(); // the subject of another operator begins with its name
    for (const { id, shows } of obligations) {
      anchors.set(id, `o-${id}`);
      groupOf.set(`o-${id}`, ["obligations", subject]);
      for (const shown of shows) {
        const key = `${shown} ${data.types.includes(type) ? type : "all"}`;
        shownBy.set(key, [...(shownBy.get(key) ?? []), id]);
      }
    }
  }
  for (const [type, classes] of Object.entries(data.vectors))
    for (const klass of Object.keys(classes)) groupOf.set(`v-${type}.${klass}`, ["vectors", type]);
  for (const [source, items] of Object.entries(data.sources))
    for (const { line } of items) groupOf.set(`source-${source}-${line}`, ["sources", source]);
  const to = (id, words = id) => {
    const anchor = anchors.get(id) ?? anchors.get(id.split("/")[0]);
    return anchor ? el("a", { href: `#${anchor}` }, words) : words;
  };

  const explore = (type, values, words) => {
    const input = new URLSearchParams([["type", type], ...data.operands.map((key, i) => [key, values[i] ?? ""])]);
    return el("a", { href: `explorer.html#${input}` }, words);
  };
  // The explorer at a rewrite, at a class of another operator, or at an input of a class of Clip that was a vector.
  const exploreEntry = ({ section, id, families }) => {
    if (section === "rewrites" && families.length) // a theorem about every function of a kind has none
      return el("a", { href: `explorer.html#${new URLSearchParams({ rewrite: id })}` }, "Explore this rewrite");
    if (section !== "classes") return "";
    const [operator, klass] = id.split(":");
    if (klass) return el("a", { href: `explorer.html#${new URLSearchParams({ operator, class: klass })}` }, "Explore an input of this class");
    const [type, classes] = Object.entries(data.vectors).find(([, classes]) => classes[id]) ?? [];
    return type && explore(type, data.operands.map((key) => classes[id][0][key]), "Explore an input of this class");
  };
  const toTrace = ({ section, id }) =>
    document.getElementById(`trace-${section}-${id}`) && el("a", { href: `#trace-${section}-${id}` }, "Row in the trace");

  const toLine = (source, line) => { // the sentence in which a line lies begins at it or before
    const begins = (data.sources[source] ?? []).map((item) => item.line).filter((one) => one <= line);
    return begins.length ? el("a", { href: `#source-${source}-${Math.max(...begins)}` }, `line ${line}`) : `line ${line}`;
  };

  const commandsOf = ({ kind, file, theory, goal }) => {
    const quoted = (words) => (/^[\w@%+=:,./-]+$/.test(words) ? words : `'${words.replaceAll("'", `'"'"'`)}'`);
    const options = [file, "-t", kind === "smoke" ? 1 : 60, "-T", quoted(theory)];
    if (kind !== "instance") options.push("-G", quoted(goal));
    if (kind !== "smoke") options.push("-a inline_all -a introduce_premises");
    return Object.values(data.commands).map((start) => [start, ...options].join(" ")).join("\n");
  };

  // What each runtime does in a class and an element type, with the way to its deviations.
  const verdictsOf = (e, type) => listed(Object.entries(data.verdicts)
    .map(([name, byType]) => [name, (byType[type] ?? {})[e.id]])
    .filter(([, verdict]) => verdict && verdict !== "not run")
    .map(([name, verdict]) => el("span", { class: "nowrap" },
      el("a", { href: `#runtime-${name}` }, name), " ", chip(verdict, `v-${verdict.replaceAll(" ", "-")}`))));

  // The words of the source of an entry with the lines at which they stand; its statement where it has no source.
  const quotationOf = ({ source, lines, aliases, statement }) => {
    if (!source) return el("p", {}, statement);
    const others = Object.entries(aliases).map(([tensor, alias]) => `; there called [${alias}] below ${tensor}`);
    return el("blockquote", {}, source.cited && "In our words: ",
      el("span", { title: source.quote }, source.readable),
      el("footer", {}, `${source.title}; section “${source.section}”, `,
        listed(lines.map((line) => toLine(source.page, line))), ` of ${source.file}`, others));
  };

  // The test vectors of an entry in an element type: a link to each class if they are few, else their number.
  const vectorsOf = (e, type) => {
    const number = e.vectors[type];
    if (!number) return undefined;
    if (e.classes.length > 3) return el("a", { href: `#v-${type}` }, `${number}`);
    const covered = e.classes.filter((klass) => data.vectors[type][klass]);
    return listed(covered.map((klass) => el("a", { href: `#v-${type}.${klass}` }, klass)));
  };

  // What is shown of an entry in one element type, or in all of them at once.
  const cellRow = (e, { type, status, note }) => {
    const ofAll = type === "all";
    // In the row of a type the names of its obligations go without the type.
    const nameOf = (id) => ofAll ? id : id.slice(id.indexOf(".") + 1);
    const obligations = shownBy.get(`${e.id} ${type}`) ?? [];
    return row(
      ofAll ? "all at once" : type,
      [chip(status), soft(note)],
      listed(obligations.map((id) => to(id, nameOf(id)))),
      vectorsOf(e, type),
      verdictsOf(e, type));
  };

  const render = {
    entries: (group) => data.entries[group].map((e) => {
      const { classes } = e;
      const hasOwnClasses = classes.length && classes[0] !== e.id; // a class has itself
      return el("section", { class: "entry", id: `${e.section}-${e.id}` },
        el("header", {}, el("span", { class: "id" }, e.id), el("h3", {}, e.title), chip(e.role, ""),
          soft(e.families.join(", ")), exploreEntry(e), toTrace(e)),
        quotationOf(e),
        e.facts.length && el("dl", { class: "facts" },
          e.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, code(value))])),
        e.violated_by.length && el("p", {}, `A recorded answer violates it: ${e.violated_by.join("; ")}.`),
        e.theorems.length && el("p", {}, "Coq: ", listed(e.theorems.map((name) => code(name))), "."),
        hasOwnClasses && el("p", {}, "Its vectors and verdicts are those of ", listed(classes.map((c) => to(c))), "."),
        table(e.cells.map((cell) => cellRow(e, cell)), "Type", "Status", "Obligations", "Vectors", "Runtimes"));
    }),

    obligations: (subject) => data.obligations[subject].map((o) => {
      const made = el("details", { class: "ob", id: `o-${o.id}` }, el("summary", {},
        o.kind === "smoke" && o.status === "proved" ? chip("false not derived", "s-proved") : chip(o.status),
        " ", code(o.id), " ", soft(o.kind), ` ${o.title}`));
      made.addEventListener("toggle", () => made.append(
        el("p", {}, o.shows.length && ["Shows ", listed(o.shows.map((id) => to(id)))], soft(` in ${o.file}, ${o.theory}.${o.goal}`)),
        o.statement && el("pre", {}, o.statement),
        o.replies.length ? table(o.replies.map((r) => row(`${r.prover} ${r.version}`, r.verdict,
          [code(r.task, "soft"), r.verdict !== "valid" && ` ${r.words}`]))) : el("p", {}, "No prover answered."),
        el("pre", {}, commandsOf(o))), { once: true });
      return made;
    }),

    vectors: (type) => Object.entries(data.vectors[type]).map(([klass, vectors]) => [
      el("h4", { id: `v-${type}.${klass}` }, to(klass)),
      table(vectors.map((v) => row(explore(type, data.operands.map((key) => v[key]), v.id), code(`${v.x} ${v.min} ${v.max}`), ["= ", code(v.expected)], code(v.comment),
        soft([...new Set(v.acceptable.map(({ latitude }) => latitude))].join(", ")))))]),

    sources: (source) => {
      let section, line;
      return table(data.sources[source].flatMap((item) => {
        const begins = item.section.join(" › ") !== section && el("tr", {}, el("th", { colspan: 3 }, (section = item.section.join(" › "))));
        const anchor = item.line === line ? {} : { id: `source-${source}-${item.line}` };
        line = item.line;
        return [begins, el("tr", anchor, el("td", { class: "number" }, `${item.line}`), el("td", {}, item.text), el("td", {},
          listed(item.encoded_by.map((id) => to(id))), item.encoded_by.length && item.disputed_by.length ? "; " : "",
          item.disputed_by.length && ["disputed by ", listed(item.disputed_by.map((id) => to(id)))],
          soft(item.answer), soft(item.note && ` (${item.note})`)))];
      }), "Line", "The source", "The answer");
    },

    deviations: (runtime) => data.deviations[runtime].map((d) => el("details", { class: "ob" },
      el("summary", {}, chip(d.latitude || d.kind, `v-${d.kind}`), ` ${d.type}, ${d.klass}: `, code(d.shown), soft(d.form && ` model with ${d.form}`)),
      el("p", {}, "Class ", to(d.klass), ", ", explore(d.type, Object.values(d.operands), "explore this input"), d.latitude && [", latitude ", to(d.latitude)], `, layout ${d.layout}`,
        d.explanation && `; ${d.explanation}`, d.words && ["; ", code(d.words)]),
      el("pre", {}, d.reproduce))),

    trusted: (file) => table(data.trusted[file].map((t) => row(t.kind, code(t.name), code(t.statement),
      t.justification || chip("no reason", "s-not-proved"), listed(t.discharged_by.map((id) => to(id))))),
    "Kind", "Name", "Assumption", "Why", "Discharged by"),

    files: () => table(Object.entries(data.files).map(([name, digest]) => row(code(name), code(digest, "soft")))),
  };

  const fill = (group) => {
    if (group.dataset.filled) return;
    group.dataset.filled = "yes";
    const made = [render[group.dataset.kind](group.dataset.key)].flat(2);
    group.append(...made);
    if (made.length < 20) return;
    const search = el("input", { type: "search", placeholder: "show those that contain …", "aria-label": "filter" });
    search.addEventListener("input", () => made.forEach((one) => { one.hidden = !one.textContent.includes(search.value); }));
    made[0].before(search);
  };
  const groups = [...document.querySelectorAll("details[data-kind]")];
  groups.forEach((group) => group.addEventListener("toggle", () => group.open && fill(group)));

  const searched = () => {
    const links = [...document.querySelectorAll(".contents nav a")];
    const folded = [...document.querySelectorAll("details.finding, details.runtime")];
    const nameOf = (one) => one.id.replace(/^(finding|runtime)-/, "");
    return [
      ...links.map((link) => ({ kind: "section", id: link.hash.slice(1), title: link.textContent, text: "", anchor: link.hash.slice(1) })),
      ...Object.values(data.entries).flat().map((e) => ({
        kind: e.section.replaceAll("_", " "), id: e.id, title: e.title, text: `${e.statement} ${e.source?.quote ?? ""}`,
        anchor: `${e.section}-${e.id}` })),
      ...folded.map((one) => ({
        kind: one.classList.contains("finding") ? "finding" : "runtime", id: nameOf(one),
        title: one.dataset.title ?? "", text: one.textContent, anchor: one.id })),
      ...Object.values(data.obligations).flat().map((o) => ({
        kind: "obligation", id: o.id, title: o.title, text: "", anchor: `o-${o.id}` })),
      ...Object.entries(data.sources).flatMap(([source, items]) => items.map((item) => ({
        kind: "sentence", id: `${source} ${item.line}`, title: item.text, text: item.section.join(" "),
        anchor: `source-${source}-${item.line}` }))),
    ];
  };
  installSearch(searched);

  // Open what holds the target of the address, down to the target itself, and mark it until the next link.
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const [kind, key] = groupOf.get(id) ?? (id.startsWith("v-") ? ["vectors", id.slice(2)] : []);
    const group = groups.find((one) => one.dataset.kind === kind && one.dataset.key === key);
    if (group) { group.open = true; fill(group); }
    const target = document.getElementById(id) ?? group;
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    document.querySelectorAll(".target").forEach((one) => one.classList.remove("target"));
    target.classList.add("target");
    const section = target.closest("details.section")?.id ?? id;
    document.querySelectorAll(".contents nav a").forEach((link) => {
      if (link.hash === `#${section}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => { // the row of the link is found again on the way back
    const line = event.target.closest("a")?.closest("tr");
    if (!line) return;
    document.querySelectorAll(".followed").forEach((one) => one.classList.remove("followed"));
    line.classList.add("followed");
  });
  document.addEventListener("click", (event) => { // a link to the present address changes nothing, and opens again
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) reveal();
  });

  // Paper does not unfold: print what is in the page, and fold it again. What is rendered on demand stays a line.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open], [data-kind])")];
    unfolded.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((one) => { one.open = false; });
  });
  const narrow = matchMedia("(max-width: 64rem)").matches; // there the contents stand above the page
  document.querySelector(".contents").open = !narrow;
  if (location.hash) reveal();
})();
