// The search of the rail. An item has a kind, an id, a title, a text that is searched but not shown, and an anchor.
const HITS_SHOWN = 40;

// How well an item matches, the best first; undefined where it does not have every word.
function rankOf(item, words) {
  const id = item.id.toLowerCase(), title = item.title.toLowerCase(), text = item.text.toLowerCase();
  if (!words.every((word) => id.includes(word) || title.includes(word) || text.includes(word))) return undefined;
  const query = words.join(" ");
  const marks = [id === query, id.startsWith(query), id.includes(query), title.includes(query)];
  const rank = marks.indexOf(true);
  return rank < 0 ? marks.length : rank;
}

function matching(items, query) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word);
  const ranked = items.map((item) => [rankOf(item, words), item]).filter(([rank]) => rank !== undefined);
  return ranked.sort(([one], [other]) => one - other).map(([, item]) => item); // the sort is stable
}

function hitOf({ kind, id, title, anchor }) {
  const [link, name, about] = ["a", "code", "span"].map((tag) => document.createElement(tag));
  link.href = `#${anchor}`;
  name.textContent = id;
  about.textContent = kind;
  about.className = "soft";
  link.append(name, ` ${title} `, about);
  const hit = document.createElement("li");
  hit.append(link);
  return hit;
}

// `listItems` is called once, at the first search.
function installSearch(listItems) {
  const [field, count, results] = ["search", "hits", "results"].map((id) => document.getElementById(id));
  let items;
  const show = () => {
    items ??= listItems();
    const query = field.value.trim();
    const hits = query ? matching(items, query) : [];
    results.hidden = !query;
    results.replaceChildren(...hits.slice(0, HITS_SHOWN).map(hitOf));
    const more = hits.length > HITS_SHOWN ? `, the first ${HITS_SHOWN} are listed` : "";
    count.textContent = query && `${hits.length} found${more}`;
  };
  const links = () => [...results.querySelectorAll("a")];
  const move = (event, step) => {
    const stops = [field, ...links()];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  const clear = () => { field.value = ""; show(); field.focus(); };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") links()[0]?.click(); });
  document.querySelector("search").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(event, 1);
    if (event.key === "ArrowUp") move(event, -1);
    if (event.key === "Escape") clear();
  });
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
}
