import assert from "node:assert/strict";
import { test } from "node:test";
import { cell, count, list, number, shortened, signed } from "../src/words.js";

test("numbers keep their significant digits, whatever their size", () => {
  assert.deepEqual([0.00368576, 59.8031, 1234.5678, 12].map((value) => number(value)), ["0.00369", "59.8", "1,235", "12"]);
  assert.deepEqual([1.9e-5, -2.5e7].map((value) => number(value)), ["1.9\u00d710\u207b\u2075", "\u221225,000,000"]);
  assert.equal(number(-25000000.5), "\u22122.5\u00d710\u2077");
});

test("what is not a number is shown as a dash", () => {
  assert.deepEqual([null, undefined, NaN, Infinity].map((value) => number(value)), ["\u2013", "\u2013", "\u2013", "\u2013"]);
});

test("signs are shown on both sides of zero", () => {
  assert.deepEqual([0.5, -0.5, 0].map((value) => signed(value)), ["+0.5", "\u22120.5", "0"]);
});

test("cells of the data are shown with six digits, texts as they are", () => {
  assert.deepEqual([1007.3, -0.125, 1e-9, "<b>", null].map(cell), ["1007.3", "\u22120.125", "1e\u22129", "<b>", ""]);
});

test("one is not a plural, and lists read as sentences do", () => {
  assert.deepEqual([count(1, "row"), count(2000, "row")], ["1 row", "2,000 rows"]);
  assert.deepEqual([list([]), list(["a"]), list(["a", "b"]), list(["a", "b", "c"])], ["", "a", "a and b", "a, b and c"]);
});

test("long names keep their end and never half a letter", () => {
  assert.equal(shortened("folder/january.csv", 12), "\u2026january.csv");
  assert.equal([...shortened("\u{1f600}".repeat(20), 5)].length, 5);
  assert.equal(shortened("short", 12), "short");
});
