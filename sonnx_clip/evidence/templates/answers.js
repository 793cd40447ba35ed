// What is known of one input, from the functions of `meanings` and from `data`.
function prepare(scope) {
  data = scope; // texts are parsed with its constants
  data.names = [...new Set(Object.values(data.constants).flat())];
  for (const [id, type] of Object.entries(data.types)) {
    type.id = id;
    type.names = data.constants[type.functions];
    const value = ([text, bits]) => [text, type.width ? valueOf(BigInt(bits), type) : parse(text, type)];
    type.k = {};
    type.k = Object.fromEntries(Object.entries(type.numbers).map(value));
    type.k.opposite = (a) => opposite(a, type);
    type.special = (type.special ?? []).map((bits) => valueOf(BigInt(bits), type));
    if (type.width && data.operator) type.of = meanings[data.operator][type.functions](type.k);
  }
}

// The value of the other sign: of a float the sign bit is changed, an integer is negated modulo 2^width.
function opposite(value, type) {
  if (type.family === "float") return valueOf(value.bits ^ signOf(type), type);
  if (type.width) return valueOf(BigInt.asUintN(type.width, -value.bits), type);
  const [top, below] = value.fraction;
  return { ...value, fraction: [-top, below], n: -value.n, bits: -value.bits };
}

// Values that compare with each other, and the constants of the type that compare with them.
function comparable(values, type) {
  if (type.width) return [values, type.k];
  const texts = Object.keys(type.numbers), all = aligned([...values, ...texts.map((text) => type.k[text])]);
  const numbers = Object.fromEntries(texts.map((text, i) => [text, all[values.length + i]]));
  return [all.slice(0, values.length), { ...numbers, opposite: type.k.opposite }];
}

// The operands as values that compare with each other, and the functions of the type for them.
function compared(values, type) {
  if (type.width) return [values, type.of, type.k];
  const [operands, k] = comparable(values, type);
  return [operands, meanings[data.operator][type.functions](k), k];
}

const identical = (a, b) => a.bits === b.bits;
const sameValue = (a, b) => identical(a, b) || a.n === b.n || (is_nan(a) && is_nan(b));
const distinct = (values) => values.filter((one, i) => values.findIndex((other) => identical(one, other)) === i);

// What a reading allows: the numbers one by one, and whether any NaN besides.
function answersOf(reading, values, type, of, k) {
  const floats = type.family === "float", sign = floats && signOf(type);
  const nans = floats ? [k.nan.bits, k.nan.bits ^ sign] : [];
  const tried = distinct([...values, ...nans.map((bits) => valueOf(bits, type)), ...of.results(...values)]);
  const allows = (y) => of.readings[reading](...values, y);
  const all = tried.filter(allows);
  const others = floats ? [k.nan.bits, k.nan.bits + 1n, infinityOf(type) + 1n].flatMap((b) => [b, b ^ sign]) : [];
  const anyNaN = floats && others.every((bits) => allows(valueOf(bits, type)));
  return { all, numbers: all.filter((y) => !(anyNaN && is_nan(y))), anyNaN };
}

const agreementOf = (all, due) =>
  all.every((y) => identical(y, due)) ? "bits" : all.every((y) => sameValue(y, due)) ? "values" : "differs";

// A number of a dialect's bound type, in the element type; throws what the dialect refuses.
function boundOf(name, value, dialect, type) {
  const of = data.types[dialect.bound_type];
  if (!of || of.id === type.id) return value;
  const given = converted(value, type, of);
  if (Math.abs(given.n) === Infinity && Math.abs(Number(value.n)) !== Infinity)
    throw new Refused(`${name} is too large for ${of.id}, its type`, "write inf for infinity");
  const used = converted(given, of, type);
  if (!used) throw new Refused(`${name} = ${decimal(given, of)} becomes no ${type.id}`, dialect.cast || "it is refused");
  return used;
}

// One dialect: its bounds, its answer, and what its words allow; or why it refuses.
function dialectAnswer(dialect, values, type) {
  try {
    if (!dialect.types.includes(type.id))
      throw new Refused(`it does not take ${type.id}`, `it takes ${dialect.types.join(", ")}`);
    const missing = dialect.missing?.[type.id];
    const used = values.map((value, i) => {
      const { id, scalar } = data.operands[i], at = data.operands.slice(0, i).filter((o) => o.scalar).length;
      if (value) return scalar ? boundOf(id, value, dialect, type) : value;
      if (!missing) throw new Refused(`it refuses a missing ${id}`, `give ${id}`);
      return valueOf(BigInt(missing[at]), type);
    });
    const [operands, of, k] = compared(used, type);
    const result = [...operands].reverse().reduce((found, y) =>
      (of.readings[dialect.answers](...operands, y) ? y : found), operands.at(-1));
    const changed = used.map((value, i) => data.operands[i].scalar && (!values[i] || !identical(values[i], value)));
    return { used: type.width ? used : operands, changed, result, allowed: answersOf(dialect.reading, operands, type, of, k) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { refused: error.message };
  }
}

// Everything about one input; a scalar that is missing (null) leaves only what the dialects answer.
function explore(type, given) {
  const [values, of, k] = compared(given, type);
  const dialects = Object.entries(data.dialects).map(([id, d]) => ({ id, ...dialectAnswer(d, values, type) }));
  if (values.includes(null)) return { values, dialects };
  if (!of.defined(...values)) return { values, dialects, outside: true };
  const holds = (functions) => Object.keys(functions).filter((id) => functions[id](...values));
  const due = of.result(...values);
  const accepted = [];
  const nans = type.special.filter(is_nan), numbers = type.special.filter((a) => !is_nan(a));
  for (const a of [...nans.slice(0, 1), ...numbers.filter((one) => !identical(one, due))])
    for (const [id, accepts] of Object.entries(of.latitude))
      if (accepts(...values, due, a)) accepted.push({ latitude: id, answer: is_nan(a) ? null : a });
  const readings = Object.keys(of.readings).map((id) => {
    const found = answersOf(id, values, type, of, k);
    return { id, ...found, agreement: agreementOf(found.all, due) };
  });
  for (const d of dialects) if (d.result) d.agreement = agreementOf([d.result], due);
  return { values, due, case: holds(of.cases)[0], classes: holds(of.classes), accepted, readings, dialects };
}
