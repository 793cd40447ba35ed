// Whether a rewrite is legal for constants: by the condition that is proved, and by each X that is tried.
class Undefined extends Error {}
const STRENGTHS = ["bits", "value", "numbers"];

// The results of the operators in a type; an operand outside the domain of one has none.
function resultsIn(type, k) {
  const functions = {};
  for (const [operator, families] of Object.entries(meanings)) {
    const own = scopes[operator].types[type.id];
    if (!own) continue;
    const of = families[own.functions](k);
    functions[operator] = (...operands) => {
      if (!of.defined(...operands)) throw new Undefined();
      return of.result(...operands);
    };
  }
  return functions;
}

// Both sides for constants and X; null where an operator is not defined.
function sidesOf(rewrite, values, type) {
  const names = Object.keys(values), [numbers, k] = comparable(Object.values(values), type);
  const named = Object.fromEntries(names.map((name, i) => [name, numbers[i]]));
  const code = rewrites[rewrite.id](k, resultsIn(type, k));
  const side = (term) => {
    try { return term(named); } catch (error) {
      if (error instanceof Undefined) return null;
      throw error;
    }
  };
  return { x: named.X, before: side(code.before), after: side(code.after) };
}

const agree = (a, b, strength) => (strength === "bits" ? identical(a, b) : sameValue(a, b));

// The values of X that decide: constants, numbers of the terms, their neighbours, ends and special values.
function pointsOf(rewrite, constants, type) {
  const numbers = [...Object.values(constants), ...rewrite.numbers.map((text) => type.k[text]), type.k["0"]];
  const all = [...numbers, ...numbers.map((a) => opposite(a, type))];
  return type.width ? machinePoints(all, type) : realPoints(all);
}

function machinePoints(numbers, type) {
  const patterns = new Set();
  const add = (bits) => patterns.add(BigInt.asUintN(type.width, bits));
  for (const { bits } of numbers) for (const step of [0n, -1n, 1n]) add(bits + step);
  for (const { bits } of type.special) add(bits);
  if (type.family === "float") { // some NaN that no constant is, quiet and signalling
    const top = infinityOf(type), quiet = top | (1n << BigInt(type.significand - 2));
    for (let i = 1n; i <= BigInt(numbers.length) + 1n; i += 1n) { add(top + i); add(quiet + i); }
  } else for (const end of rangeOf(type)) add(end);
  const unusual = ({ n }) => {
    const size = Math.abs(Number(n));
    return Number.isNaN(size) ? 9e9 : size === Infinity ? 8e9 : size && Math.abs(Math.log2(size));
  };
  return [...patterns].map((bits) => valueOf(bits, type)).sort((a, b) => unusual(a) - unusual(b));
}

// The numbers, one between each two neighbours, and one beyond each end.
function realPoints(numbers) {
  const sorted = distinct(aligned(numbers)).sort((a, b) => (a.n < b.n ? -1 : 1)).map(({ fraction }) => fraction);
  const between = sorted.slice(1).map(([t, b], i) => [t * sorted[i][1] + sorted[i][0] * b, 2n * b * sorted[i][1]]);
  const [first, last] = [sorted[0], sorted.at(-1)];
  const ends = [[first[0] - first[1], first[1]], [last[0] + last[1], last[1]]];
  return [...sorted, ...between, ...ends].map((fraction) => ({ fraction }));
}

// For each strength what the condition says (null: none is stated for these constants), and the first X that differs.
function decide(rewrite, constants, type) {
  const points = pointsOf(rewrite, constants, type);
  const sides = points.map((x) => sidesOf(rewrite, { ...constants, X: x }, type)).filter(({ before }) => before);
  const names = Object.keys(constants), [numbers, k] = comparable(Object.values(constants), type);
  const named = Object.fromEntries(names.map((name, i) => [name, numbers[i]]));
  const code = rewrites[rewrite.id](k, resultsIn(type, k)), covered = code.given(named);
  const conditions = code.legal[rewrite.families[type.id]] ?? {};
  const strengths = STRENGTHS.map((strength) => ({
    strength,
    stated: covered && conditions[strength] ? conditions[strength](named) : null,
    differs: sides.find(({ x, before, after }) =>
      !(strength === "numbers" && is_nan(x)) && !(after && agree(before, after, strength))) ?? null,
  }));
  return { covered, points: points.length, strengths };
}
