import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const hostileName = `</script><img src=x onerror="hacked=1"><script>hacked=1</script>`;
export const oddNames = ["<!-- <script>", "line\u2028separator", "\u202etxet denrut", "x".repeat(3000), "\u{1f600} \u{1f468}\u200d\u{1f469}", "__proto__", "\\", `&amp;"'`];
export const hostileText = `<svg onload=hacked=1>&amp;"'`;

// A small generator of our own, so that every run sees the same numbers: nearly normal, by a sum of twelve.
function normals(seed) {
  let state = seed;
  const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
  return () => Array.from({ length: 12 }, uniform).reduce((a, b) => a + b) - 6;
}

function csv(header, rows) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  return [header, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

function table(seed, rows, cells) {
  const next = normals(seed);
  return Array.from({ length: rows }, (_, i) => cells(next, i));
}

/** Images of a bright spot whose place differs between the samples; IDX, as MNIST uses it. */
function images(seed, count, size, centre) {
  const next = normals(seed);
  const header = Buffer.from([0, 0, 8, 3, 0, 0, count >> 8, count & 255, 0, 0, 0, size, 0, 0, 0, size]);
  const pixel = (i, shift) => {
    const distance = Math.hypot(Math.floor(i / size) - centre - shift, (i % size) - size / 2);
    return Math.max(0, Math.min(255, 230 * Math.exp(-distance * distance / 4) + 12 * next()));
  };
  const image = () => {
    const shift = 0.5 * next();
    return Buffer.from(Array.from({ length: size * size }, (_, i) => Math.round(pixel(i, shift))));
  };
  return Buffer.concat([header, ...Array.from({ length: count }, image)]);
}

const plain = ["age", "income", "score", "weight"];
const person = (tail) => (next) => {
  const [age, income, score, weight] = [next(), next(), next(), next()];
  return [age, income > 0 ? tail * income : income, score + 0.5 * age, weight].map((value) => value.toFixed(4));
};
const city = (share) => (next, i) => [next().toFixed(3), i % 10 < share ? hostileText : "Bonn"];

const files = {
  "before.csv": csv(plain, table(11, 220, person(1))),
  "after.csv": csv(plain, table(12, 200, person(2))),
  "later.csv": csv(plain, table(13, 210, person(1))),
  "one-x.csv": csv(["pressure"], table(14, 80, (next) => [next().toFixed(4)])),
  "one-y.csv": csv(["pressure"], table(15, 70, (next) => [next().toFixed(4)])),
  "text-x.csv": csv(["income", "city"], table(16, 120, city(3))),
  "text-y.csv": csv(["income", "city"], table(17, 120, city(8))),
  "hostile-x.csv": csv([hostileName, "b"], table(18, 60, (next) => [next(), next()])),
  "hostile-y.csv": csv([hostileName, "b"], table(19, 60, (next) => [next() + 2, next()])),
  "odd-x.csv": csv(oddNames, table(22, 60, (next) => oddNames.map(() => next()))),
  "odd-y.csv": csv(oddNames, table(23, 60, (next) => oddNames.map(() => next() + 1))),
  "tiny-x.csv": csv(["a", "b"], table(24, 40, (next) => [`${next()}e-300`, `${next()}e-310`])),
  "tiny-y.csv": csv(["a", "b"], table(25, 40, (next) => [`${next() + 2}e-300`, `${next()}e-310`])),
  "visits-x.csv": csv(["a", "who"], table(26, 60, (next, i) => [next().toFixed(4), `x${i % 12}`])),
  "visits-y.csv": csv(["a", "who"], table(27, 24, (next, i) => [next().toFixed(4), `y${i % 12}`])),
  "images-x.idx": images(20, 260, 12, 4),
  "images-y.idx": images(21, 260, 12, 6.5),
};

/** Days of 20 columns, one of which shifts on the day before the last five. */
export const monitoredDays = 40;
const monitored = (shift) => (next) => Array.from({ length: 20 }, (_, j) => (next() + (j === 7 ? shift : 0)).toFixed(2));
const columnNames = Array.from({ length: 20 }, (_, j) => `sensor ${j + 1}`);

function writeDays(folder) {
  writeFileSync(join(folder, "baseline.csv"), csv(columnNames, table(100, 1000, monitored(0))));
  for (let day = 1; day <= monitoredDays; ++day) {
    writeFileSync(join(folder, `day-${String(day).padStart(3, "0")}.csv`), csv(columnNames, table(100 + day, 60, monitored(day < monitoredDays - 5 ? 0 : 1))));
  }
}

const data = join(dirname(fileURLToPath(import.meta.url)), "../../data");
const few = ["--permutations", "199"];
const commands = {
  customers: ["test", join(data, "customers-march.csv"), join(data, "customers-april.csv"), ...few],
  margin: ["test", "before.csv", "after.csv", "--tolerance", "0.1", ...few],
  named: ["test", "before.csv", "after.csv", "--names", "Control,<b>Treated</b>", ...few],
  days: ["monitor", "baseline.csv", "day-*.csv", "--method", "ekqd", ...few],
  tabular: ["test", "before.csv", "after.csv", ...few],
  "one column": ["test", "one-x.csv", "one-y.csv", "--method", "ekqd", "--effect-interval", ...few],
  text: ["test", "text-x.csv", "text-y.csv", "--categorical", "onehot", "--standardize", "zscore", ...few],
  hostile: ["test", "hostile-x.csv", "hostile-y.csv", ...few],
  "odd names": ["test", "odd-x.csv", "odd-y.csv", ...few],
  tiny: ["test", "tiny-x.csv", "tiny-y.csv", "--standardize", "none", ...few],
  "tiny matrix": ["matrix", "tiny-x.csv", "tiny-y.csv", "--method", "sw"],
  clusters: ["test", "visits-x.csv", "visits-y.csv", "--design", "clusters:who", ...few],
  image: ["test", "images-x.idx", "images-y.idx", ...few],
  distance: ["distance", "before.csv", "after.csv"],
  "largest gap": ["distance", "before.csv", "after.csv", "--method", "max-sw"],
  matrix: ["matrix", "before.csv", "after.csv", "later.csv", "--test", ...few],
  "hostile matrix": ["matrix", "hostile-x.csv", "hostile-y.csv"],
};

/** Writes the data and lets the program make every page; returns their paths by name, and how to remove them. */
export function makePages(program) {
  const folder = mkdtempSync(join(tmpdir(), "kqd-pages-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeDays(folder);
  const paths = {};
  for (const [name, command] of Object.entries(commands)) {
    paths[name] = join(folder, `${name}.html`);
    execFileSync(program, [...command, "--quiet", "--report", paths[name]], { cwd: folder });
  }
  return { paths, remove: () => rmSync(folder, { recursive: true }) };
}
