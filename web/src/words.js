import { samples } from "./samples.js";

const minus = "\u2212";

/** A number for a reader: `digits` significant digits, a real minus sign, separators between thousands. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "\u2013";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return integer(value);
  if (size >= 1e6 || size < 1e-4) return powerOfTen(value, digits);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return withMinus(Number(value).toLocaleString("en", { maximumFractionDigits: Math.min(decimals, 20) }));
}

/** A value of the data: six digits, as it is written in files. */
export function cell(value) {
  return typeof value === "number" ? withMinus(String(Number(value.toPrecision(6)))) : String(value ?? "");
}

export function signed(value, digits = 3) {
  return value > 0 ? `+${number(value, digits)}` : number(value, digits);
}

export function integer(value) {
  return withMinus(value.toLocaleString("en"));
}

function powerOfTen(value, digits) {
  const [factor, exponent] = value.toExponential(digits - 1).split("e");
  return `${withMinus(String(Number(factor)))}\u00d710${superscript(Number(exponent))}`;
}

function superscript(value) {
  const digits = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  return String(value).replace("-", "\u207b").replace(/\d/g, (digit) => digits[digit]);
}

function withMinus(text) {
  return text.replace("-", minus);
}

export function percent(part) {
  return `${number(100 * part)}%`;
}

/** The place of a difference, as part of a sentence: shares for columns of two values, quantile levels for others. */
export function placePhrase({ where, shares }) {
  return shares ? `${number(shares.value)} in ${percent(shares.x)} of ${samples.x} and ${percent(shares.y)} of ${samples.y}` : wherePhrase(where);
}

/** A text of the data without characters that would reverse or break the text next to it. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

/** "1 row", "3 rows". */
export function count(n, one, many = `${one}s`) {
  return `${integer(n)} ${n === 1 ? one : many}`;
}

/** "a", "a and b", "a, b and c". */
export function list(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** The end of a long name: its beginning is often a folder that all names share. */
export function shortened(name, length) {
  const letters = [...name];
  return letters.length <= length ? name : `\u2026${letters.slice(1 - length).join("")}`;
}

export function interval([low, high]) {
  return `${number(low)} to ${number(high)}`;
}

/** The quantile levels at which samples differ, as part of a sentence. */
export function wherePhrase(where) {
  const phrases = {
    centre: "in the centre",
    "lower tail": "in the lower tail",
    "upper tail": "in the upper tail",
    "both tails": "in both tails",
    everywhere: "at all levels",
    nowhere: "at no level in particular",
    shares: "in the shares of its levels",
  };
  return phrases[where] ?? where;
}
