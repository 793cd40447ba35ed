// The page works without this: it only hides the deviations that are not asked for.
const filters = document.querySelector("form.filters");
const rows = [...document.querySelectorAll("details.ob")];
function choose() {
  const wanted = [...filters.querySelectorAll("select")].map((one) => [one.dataset.of, one.value]);
  for (const row of rows) row.hidden = wanted.some(([name, value]) => value !== "*" && row.dataset[name] !== value);
  const shown = rows.filter((row) => !row.hidden).length;
  filters.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
}
filters.hidden = rows.length === 0;
filters.addEventListener("input", choose);
addEventListener("hashchange", () => { filters.reset(); choose(); });
choose();
