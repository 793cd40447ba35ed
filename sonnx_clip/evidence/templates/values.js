// Values of element types: text to value to text, exact. A value has its `bits` (a BigInt; of a real number, its
// numerator) and `n`, a double or BigInt that compares in JavaScript as the element type does.
class Refused extends Error {
  constructor(what, todo) { super(`${what}; ${todo}`); }
}

const HOW = "write a decimal number (-6.1), a hex float (0x1.8p+1), a bit pattern (0x7fc00000) or a constant";
const scaled = (digits, base, power) =>
  power < 0 ? [digits, base ** BigInt(-power)] : [digits * base ** BigInt(power), 1n];
const bitLength = (n) => n.toString(2).length;
const abs = (n) => (n < 0n ? -n : n);

// The number of an unsigned decimal or hex float as a fraction; null if it is neither.
function magnitude(body) {
  if (body.length > 4000) return null;
  let found = /^(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,4}))?$/.exec(body);
  if (found) {
    const [whole, part = ""] = found[1].split(".");
    return scaled(BigInt(whole + part), 10n, Number(found[2] ?? 0) - part.length);
  }
  found = /^0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d{1,4})$/.exec(body);
  if (!found || !(found[1] + found[2])) return null;
  return scaled(BigInt(`0x${found[1]}${found[2]}`), 2n, Number(found[3]) - 4 * found[2].length);
}

// The pattern nearest to a fraction >= 0, ties to even; at least that of infinity when it overflows.
function rounded([top, below], { exponent, significand }) {
  if (top === 0n) return 0n;
  const least = 2 - 2 ** (exponent - 1);
  let power = bitLength(top) - bitLength(below);
  const [t, b] = power < 0 ? [top << BigInt(-power), below] : [top, below << BigInt(power)];
  if (t < b) power -= 1;
  power = Math.max(power, least);
  const shift = BigInt(power - significand + 1);
  const over = shift < 0n ? top << -shift : top, under = shift > 0n ? below << shift : below;
  let nearest = over / under;
  const rest = 2n * (over % under);
  if (rest > under || (rest === under && nearest & 1n)) nearest += 1n;
  return (BigInt(power - least) << BigInt(significand - 1)) + nearest;
}

const signOf = (type) => 1n << BigInt(type.width - 1);
const infinityOf = ({ exponent, significand }) => ((1n << BigInt(exponent)) - 1n) << BigInt(significand - 1);

// The value of a bit pattern of a machine type.
function valueOf(bits, type) {
  if (type.family === "int")
    return { bits, n: type.signed ? BigInt.asIntN(type.width, bits) : bits, signalling: false };
  const negative = (bits & signOf(type)) !== 0n, size = bits & (signOf(type) - 1n), top = infinityOf(type);
  const quiet = 1n << BigInt(type.significand - 2);
  if (size >= top) {
    const n = size > top ? NaN : negative ? -Infinity : Infinity;
    return { bits, n, signalling: size > top && (size & quiet) === 0n };
  }
  const [digits, power] = parts(size, type);
  const n = Number(digits) * 2 ** power;
  return { bits, n: negative ? -n : n, signalling: false };
}

// The integer and the power of two whose product is a finite magnitude.
function parts(size, { exponent, significand }) {
  const step = BigInt(significand - 1), hidden = 1n << step;
  const field = Number(size >> step), rest = size & (hidden - 1n);
  return [field ? rest | hidden : rest, 2 - 2 ** (exponent - 1) + Math.max(field - 1, 0) - (significand - 1)];
}

// The number of a finite value as a fraction.
function fractionOf(value, type) {
  if (type.family === "real") return value.fraction;
  if (type.family === "int") return [value.n, 1n];
  const [digits, power] = parts(value.bits & (signOf(type) - 1n), type);
  return scaled(value.bits & signOf(type) ? -digits : digits, 2n, power);
}

function rangeOf(type) {
  const low = type.signed ? -signOf(type) : 0n;
  return [low, low + (1n << BigInt(type.width)) - 1n];
}

function parse(text, type) {
  text = text.trim();
  const pattern = /^0[xX]([0-9a-fA-F]+)$/.exec(text);
  if (pattern) return ofPattern(pattern[1], type);
  const negative = text.startsWith("-"), body = /^[-+]/.test(text) ? text.slice(1) : text;
  if (data.names.includes(body)) return ofConstant(body, negative, type);
  const size = magnitude(body);
  if (!size) throw new Refused(`\`${text}\` is not a number`, HOW);
  if (type.family === "float") {
    const bits = rounded(size, type);
    if (bits >= infinityOf(type)) throw new Refused(`${text} is too large for ${type.id}`, "write inf for infinity");
    return valueOf(negative ? bits | signOf(type) : bits, type);
  }
  const number = [negative ? -size[0] : size[0], size[1]];
  return type.family === "int" ? toInteger(number, type, text) : { fraction: number };
}

function ofPattern(digits, type) {
  if (!type.width) throw new Refused(`0x${digits} is a bit pattern; ${type.id} has no bit patterns`, "write a decimal number");
  const wanted = type.width / 4;
  if (digits.length !== wanted)
    throw new Refused(`0x${digits} has ${digits.length * 4} bits, ${type.id} has ${type.width}`,
      `${type.id} takes ${wanted} hex digits; a hex float has an exponent: 0x1p+0`);
  return valueOf(BigInt(`0x${digits}`), type);
}

function ofConstant(name, negative, type) {
  if (!type.names.includes(name))
    throw new Refused(`${type.id} has no \`${name}\``, `constants of ${type.id}: ${type.names.join(", ") || "none"}`);
  const bits = type.k[name].bits;
  if (type.family === "float") return valueOf(negative ? bits ^ signOf(type) : bits, type);
  return toInteger([negative ? -type.k[name].n : type.k[name].n, 1n], type, `${negative ? "-" : ""}${name}`);
}

function toInteger([top, below], type, text) {
  const [low, high] = rangeOf(type), holds = `${type.id} holds ${low} … ${high}`;
  if (top % below) throw new Refused(`${text} is not an integer`, holds);
  const number = top / below;
  if (number < low || number > high) throw new Refused(`${text} is not in the range of ${type.id}`, holds);
  return valueOf(BigInt.asUintN(type.width, number), type);
}

// A value in another type, as dialects convert bounds: to a float to nearest, ties to even; to an integer toward zero.
function converted(value, of, to) {
  if (Number.isNaN(value.n) || Math.abs(Number(value.n)) === Infinity) {
    if (to.family === "int") return null;
    const sign = value.bits & signOf(of) ? signOf(to) : 0n;
    return valueOf(to.k[Number.isNaN(value.n) ? "nan" : "inf"].bits | sign, to);
  }
  const [top, below] = fractionOf(value, of);
  if (to.family === "int") {
    const whole = top / below, [low, high] = rangeOf(to);
    return whole < low || whole > high ? null : valueOf(BigInt.asUintN(to.width, whole), to);
  }
  const negative = of.family === "float" ? value.bits & signOf(of) : top < 0n;
  const bits = rounded([abs(top), below], to), most = infinityOf(to);
  return valueOf((bits > most ? most : bits) | (negative ? signOf(to) : 0n), to);
}

// Real numbers with one denominator, so that their numerators compare.
function aligned(values) {
  const all = values.filter((value) => value).reduce((product, { fraction }) => product * fraction[1], 1n);
  return values.map((value) => {
    if (!value) return value;
    const n = value.fraction[0] * (all / value.fraction[1]);
    return { fraction: value.fraction, n, bits: n, signalling: false };
  });
}

// --- Text of values ------------------------------------------------------------------------------------------

// A decimal that is read as the value again: an integer below 10^16 exactly, any other float as the shortest.
function decimal(value, type) {
  if (type.family === "int") return `${value.n}`;
  if (type.family === "real") {
    const [top, below] = value.fraction;
    for (let digits = 0; ; digits += 1)
      if ((top * 10n ** BigInt(digits)) % below === 0n) {
        const text = `${(abs(top) * 10n ** BigInt(digits)) / below}`.padStart(digits + 1, "0");
        const point = text.length - digits;
        return `${top < 0n ? "-" : ""}${text.slice(0, point)}${digits ? `.${text.slice(point)}` : ""}`;
      }
  }
  const sign = value.bits & signOf(type) ? "-" : "", size = Math.abs(value.n);
  if (Number.isNaN(size)) return `${sign}nan`;
  if (size === Infinity) return `${sign}inf`;
  if (size === 0) return `${sign}0`;
  const wanted = value.bits & (signOf(type) - 1n), [top, below] = fractionOf(valueOf(wanted, type), type);
  if (size < 1e16 && top % below === 0n) return `${sign}${top / below}`;
  const leading = Number(size.toExponential(20).split("e")[1]);
  for (let digits = 1; ; digits += 1) {
    const unit = leading - digits + 1, [up, down] = scaled(1n, 10n, unit);
    const floor = (top * down) / (below * up), rest = 2n * ((top * down) % (below * up));
    const even = rest > below * up || (rest === below * up && floor & 1n) ? floor + 1n : floor;
    for (const digitsOf of [even, rest ? floor + 1n : floor, floor])
      if (rounded(scaled(digitsOf, 10n, unit), type) === wanted) return sign + plain(`${digitsOf}`, unit);
  }
}

// Digits and a power of ten, without exponent where that is short.
function plain(digits, power) {
  const kept = digits.replace(/0+$/, "");
  power += digits.length - kept.length;
  const leading = kept.length - 1 + power;
  if (leading >= 16 || leading < -5)
    return `${kept[0]}${kept.length > 1 ? "." : ""}${kept.slice(1)}e${leading < 0 ? "-" : "+"}${Math.abs(leading)}`;
  if (power >= 0) return kept + "0".repeat(power);
  const text = kept.padStart(1 - power, "0");
  return `${text.slice(0, power)}.${text.slice(power)}`;
}

const bitsText = (value, type) => `0x${value.bits.toString(16).padStart(type.width / 4, "0")}`;

// A float as C prints it by %a.
function hexFloat(value, type) {
  if (!Number.isFinite(value.n)) return decimal(value, type);
  const bits = new BigUint64Array(new Float64Array([value.n]).buffer)[0];
  const field = Number((bits >> 52n) & 0x7ffn), rest = bits & ((1n << 52n) - 1n);
  const digits = rest.toString(16).padStart(13, "0").replace(/0+$/, "");
  const power = field ? field - 1023 : rest ? -1022 : 0;
  return `${bits >> 63n ? "-" : ""}0x${field ? 1 : 0}${digits && `.${digits}`}p${power < 0 ? "-" : "+"}${Math.abs(power)}`;
}
