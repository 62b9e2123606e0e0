import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { hostileName, hostileText, makePages, monitoredDays, oddNames } from "./pages.js";

const program = process.env.KQD_PROGRAM;
const executablePath = process.env.KQD_CHROMIUM ?? "/usr/bin/chromium";
const wide = { width: 1280, height: 900 };
const narrow = { width: 360, height: 740 };
const explained = ["verdict", "compared", "where", "columns", "settings"];
const related = [...explained, "relations"];
const sections = {
  customers: [...related, "null", "rows", "scatter"],
  margin: [...related, "null", "rows", "scatter"],
  named: [...related, "null", "rows", "scatter"],
  days: ["verdict", "timeline", "columns-over-time", "alarm", "settings"],
  tabular: [...related, "null", "rows", "scatter"],
  "one column": [...explained, "null", "rows", "scatter"],
  text: [...related, "null", "rows", "scatter"],
  hostile: [...related, "null", "rows", "scatter"],
  "odd names": [...related, "null", "rows", "scatter"],
  tiny: [...related, "null", "rows", "scatter"],
  "tiny matrix": ["verdict", "compared", "map", "tree", "pairs", "settings"],
  clusters: [...explained, "null", "rows", "scatter"],
  image: [...explained, "null", "images", "scatter"],
  distance: [...related, "rows", "scatter"],
  "largest gap": [...related, "rows", "scatter"],
  matrix: ["verdict", "compared", "map", "tree", "pairs", "settings"],
  "hostile matrix": ["verdict", "compared", "map", "tree", "pairs", "settings"],
};

let browser;
let pages;
before(async () => {
  pages = makePages(program);
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
  browser = await chromium.launch({ executablePath, args });
});
after(async () => {
  await browser?.close();
  pages?.remove();
});

/** Opens a page without a network; `complaints` gets its messages and its requests for other files. */
async function opened(name, { viewport = wide, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, offline: true, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const address = pathToFileURL(pages.paths[name]).href;
  const complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => request.url() !== address && complaints.push(`request: ${request.url()}`));
  await page.goto(address);
  await page.waitForFunction(() => [...document.querySelectorAll(".chart-box")].every((box) => box.firstChild || !box.checkVisibility()));
  return { page, complaints, close: () => context.close() };
}

/** Waits until charts are drawn for the present room and colours. */
async function settled(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

for (const [name, expected] of Object.entries(sections)) {
  test(`the page of ${name} data is complete and quiet, wide and narrow, light and dark`, async () => {
    const { page, complaints, close } = await opened(name);
    const shown = await page.$$eval("main > section", (parts) => parts.map((part) => part.id).filter((id) => id !== "warnings"));
    assert.deepEqual([...shown].sort(), [...expected].sort());
    await assertAccessible(page);
    for (const [viewport, colorScheme] of [[wide, "light"], [narrow, "light"], [narrow, "dark"], [wide, "dark"]]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await settled(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels next to a screen of ${viewport.width}`);
    }
    assert.deepEqual(complaints, []);
    await close();
  });
}

/** Charts and images have descriptions, headings skip no level, head cells have a scope. */
async function assertAccessible(page) {
  const found = await page.evaluate(() => {
    const all = (selector, wrong) => [...document.querySelectorAll(selector)].filter(wrong).length;
    return {
      mute: all(".chart, .spark, canvas", (one) => one.getAttribute("role") !== "img" || !one.getAttribute("aria-label")),
      unscoped: all("th", (cell) => !cell.scope),
      uncaptioned: all("table", (table) => !table.caption?.textContent),
      nameless: all("button, a", (one) => !one.textContent.trim()),
      levels: [...document.querySelectorAll("h1, h2, h3")].map((one) => Number(one.tagName[1])),
    };
  });
  const { levels, ...faults } = found;
  assert.deepEqual(faults, { mute: 0, unscoped: 0, uncaptioned: 0, nameless: 0 });
  assert.ok(levels.every((level, i) => (i === 0 ? level === 1 : level > 1 && level <= levels[i - 1] + 1)), String(levels));
}

test("the contrast of text is at least 4.5 to 1 in both themes", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await opened("tabular", { colorScheme });
    const ratios = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const luminance = (name) => {
        const channels = style.getPropertyValue(name).match(/[0-9a-f]{2}/gi).map((hex) => parseInt(hex, 16) / 255);
        const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const texts = ["--ink", "--soft", "--x", "--y", "--accent", "--link"].flatMap((text) => ["--paper", "--raised"].map((ground) => [text, ground]));
      return [...texts, ["--ink", "--map"]].map(([text, ground]) => [`${text} on ${ground}`, ratio(luminance(text), luminance(ground))]);
    });
    for (const [pair, ratio] of ratios) assert.ok(ratio >= 4.5, `${colorScheme}: ${pair} has ${ratio.toFixed(2)}`);
    await close();
  }
});

test("what was done to clusters is shown", async () => {
  const { page, close } = await opened("clusters");
  assert.match(await page.locator("#compared").textContent(), /Cluster sizes differ between x and y \(2 to 5 rows\): all clusters were reduced to the smallest size/);
  await close();
});

test("samples have the names of their files or those that were given, never X and Y", async () => {
  for (const [name, first, second] of [["customers", "march", "april"], ["named", "Control", "<b>Treated</b>"], ["image", "x", "y"], ["distance", "before", "after"]]) {
    const { page, close } = await opened(name);
    const { text, labels } = await page.evaluate(() => {
      dispatchEvent(new Event("beforeprint")); // draws what is folded
      const labels = [...document.querySelectorAll("[aria-label], [title]")].flatMap((one) => [one.getAttribute("aria-label"), one.getAttribute("title")]);
      return { text: document.querySelector("main").textContent, labels: labels.filter(Boolean).join("\n") };
    });
    assert.doesNotMatch(text, /\b[XY]\b/, name);
    assert.doesNotMatch(labels, /\b[XY]\b/, name);
    assert.ok(text.includes(`Rows most like ${second}`) || text.includes(`Images most like ${second}`), name);
    assert.ok(labels.includes(`Quantiles of ${second} minus quantiles of ${first}`), labels);
    await close();
  }
});

test("the page of mixed tables says what changed, and lists what was decided about the columns with the options that change it", async () => {
  const { page, close } = await opened("customers");
  assert.equal(await page.locator("#verdict h1").textContent(), "The samples differ");
  const changes = await page.locator("#verdict .changes").textContent();
  assert.match(changes, /income is missing in 3.05% to 7.4% of the rows/);
  assert.match(changes, /income by plan: .* in premium/);
  const bottom = await page.evaluate(() => document.querySelector("#verdict .main-figure .chart").getBoundingClientRect().bottom);
  assert.ok(bottom <= wide.height, `the figure ends at ${bottom} of ${wide.height}`);
  const decisions = await page.locator("#compared").innerText();
  for (const part of [/Excluded: customer_id\..*--types/, /209 values are missing: .*--na/, /units of its pooled scale\..*--standardize/]) assert.match(decisions, part);
  const rows = await page.$$eval("#compared table.compact tbody tr", (lines) => lines.map((line) => [...line.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows[0], ["customer_id", "id, excluded", "0", "0", "4000 different texts in 4000 rows"]);
  assert.deepEqual(rows.find(([name]) => name === "income"), ["income", "number", "3.05%", "7.4%", ""]);
  assert.deepEqual(rows.find(([name]) => name === "plan"), ["plan", "category", "0", "0", "3 levels: basic, premium, pro"]);
  await close();
});

test("with a margin the verdict comes first, then a bar of the effect, its interval and the margin", async () => {
  const { page, close } = await opened("margin");
  const { result } = await page.evaluate(() => JSON.parse(document.getElementById("report").textContent));
  assert.deepEqual(result.effect_interval, result.effect_size_ci);
  const titles = { different: /differ by more than the margin/, equivalent: /equivalent within the margin/, undecided: /^Undecided/ };
  assert.match(await page.locator("#verdict h1").textContent(), titles[result.verdict]);
  const bar = page.locator("#verdict .margin-bar");
  assert.match(await bar.getAttribute("aria-label"), /^effect [\d.]+, interval [\d.]+ to [\d.]+, margin 0\.1$/);
  const [line, dot, margin] = await bar.evaluate((drawing) => {
    const [interval, edge] = [...drawing.querySelectorAll("line")].slice(1);
    return [[interval.x1, interval.x2].map((end) => end.baseVal.value), drawing.querySelector("circle").cx.baseVal.value, edge.x1.baseVal.value];
  });
  assert.ok(line[0] <= dot && dot <= line[1], `${dot} in ${line}`);
  const beyond = (value) => value > result.margin;
  assert.deepEqual([line[0] > margin, dot > margin, line[1] > margin], [beyond(result.effect_interval[0]), beyond(result.effect_size), beyond(result.effect_interval[1])]);
  assert.ok((await bar.boundingBox()).y + 60 < wide.height);
  await close();
});

test("a page of batches has a heat map, shows the batch that is clicked, and is small for a year of days", async () => {
  const empty = statSync(new URL("../dist/template.html", import.meta.url)).size;
  const ofYear = empty + (365 / monitoredDays) * (statSync(pages.paths.days).size - empty);
  assert.ok(ofYear < 3_000_000, `${ofYear} bytes`);
  const { page, complaints, close } = await opened("days");
  assert.match(await page.locator("#verdict").textContent(), /sensor 8/);
  assert.equal(await page.locator("#columns-over-time .chart [aria-label=cell] rect").count(), monitoredDays * 20);
  const chosen = () => page.locator("#batch h3").textContent();
  const timeline = await page.locator("#timeline .chart").boundingBox();
  await page.mouse.click(timeline.x + timeline.width - 14, timeline.y + 100);
  assert.equal(await chosen(), `day-0${monitoredDays}.csv`);
  assert.match(await page.locator("#batch").textContent(), /Differs from the baseline: .*It differs most in .*sensor 8/);
  await page.mouse.click(timeline.x + 58, timeline.y + 100);
  assert.equal(await chosen(), "day-001.csv");
  await page.locator("#timeline summary").click();
  await page.getByRole("button", { name: "day-036.csv" }).click();
  assert.equal(await chosen(), "day-036.csv");
  assert.equal(await page.locator("#batch tbody tr").first().locator("th").textContent(), "sensor 8");
  assert.deepEqual(complaints, []);
  await close();
});

test("names and cells that look like HTML are shown as text", async () => {
  for (const [name, text] of [["hostile", hostileName], ["text", hostileText]]) {
    const { page, complaints, close } = await opened(name);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.ok((await page.locator("main").textContent()).includes(text));
    assert.equal(await page.locator("img, main script, iframe, object").count(), 0);
    assert.deepEqual(complaints, []);
    await close();
  }
});

test("odd names are shown as they are, but for characters that would turn or break the text next to them", async () => {
  const { page, close } = await opened("odd names");
  const shown = await page.locator("#columns").textContent();
  for (const name of oddNames) assert.ok(shown.includes(name.replace(/[\u2028\u202e]/g, "\ufffd")), name);
  assert.equal(/[\u2028\u202a-\u202e]/.test(await page.locator("body").innerText()), false);
  await close();
});

test("axes show the size of values that are too small to be drawn as they are", async () => {
  const { page, close } = await opened("tiny");
  const ticks = await page.locator("#where .chart").first().textContent();
  assert.match(ticks, /10\u207b\u00b3\u2070\u2070|10\u207b\u00b2\u2079\u2079/u);
  await close();
});

test("the effect size of a test of many statistics says whose it is", async () => {
  const { page, close } = await opened("tabular");
  assert.match(await page.locator("#verdict").textContent(), /ekqd minus its permutation mean, in pooled SDs/u);
  await close();
});

test("columns and rows are shown in the units of the table, also when the test standardises them", async () => {
  for (const name of ["tabular", "text"]) {
    const { page, close } = await opened(name);
    assert.match(await page.locator("#columns").textContent(), /in the units of the column/u);
    await close();
  }
});

test("the page begins with the result, what changed, how much, and the figure that shows it", async () => {
  const { page, close } = await opened("tabular");
  const places = await page.evaluate(() => ["#verdict h1", "#verdict .changes", "#verdict .key-figures", "#verdict .main-figure .chart"].map((selector) => document.querySelector(selector)?.getBoundingClientRect().bottom ?? Infinity));
  for (const bottom of places) assert.ok(bottom <= wide.height, `${places} on a screen of ${wide.height}`);
  const order = await page.$$eval("main > section", (parts) => parts.map((part) => part.id));
  for (const [first, second] of [["columns", "relations"], ["relations", "where"], ["where", "rows"], ["rows", "null"], ["null", "settings"]]) {
    assert.ok(order.indexOf(first) < order.indexOf(second), `${first} before ${second} in ${order}`);
  }
  await close();
});

test("the direction of the largest gap comes last of those shown, without a p-value", async () => {
  const { page, close } = await opened("largest gap");
  const sentence = page.locator("#where p", { hasText: "The last one is the direction in which max-sw finds the largest gap." });
  assert.equal(await sentence.count(), 1);
  assert.match(await sentence.innerText(), /It is fitted to the samples, so it has no p-value of its own\.$/);
  const fitted = page.locator("#where > article.direction").last();
  assert.match(await fitted.locator("h3").innerText(), /largest gap of max-sw.*fitted/s);
  assert.equal(/ p = /.test(await fitted.innerText()), false);
  assert.equal(await page.locator("#where .tag", { hasText: "fitted" }).count(), 1);
  await close();
  const without = await opened("distance");
  assert.equal(await without.page.locator("#where", { hasText: "finds the largest gap" }).count(), 0);
  await without.close();
});

test("two data sets have one distance, not a nearest and a furthest", async () => {
  const { page, close } = await opened("hostile matrix");
  const words = await page.locator("#verdict").textContent();
  assert.ok(words.includes("The distance between") && !words.includes("furthest"), words);
  await close();
});

test("the policy stops scripts, styles and requests that are not the page's own", async () => {
  const { page, complaints, close } = await opened("tabular");
  const outcome = await page.evaluate(async () => {
    document.body.append(Object.assign(document.createElement("script"), { textContent: "window.hacked = 1" }));
    document.body.append(Object.assign(document.createElement("style"), { textContent: "body { color: rgb(1, 2, 3) }" }));
    const fetched = await fetch("data:text/plain,x").then(() => "fetched", () => "refused");
    return [window.hacked, getComputedStyle(document.body).color === "rgb(1, 2, 3)", fetched];
  });
  assert.deepEqual(outcome, [undefined, false, "refused"]);
  assert.ok(complaints.length >= 3 && complaints.every((text) => text.includes("Content Security Policy") || text.includes("Fetch API")), complaints.join("\n"));
  await close();
});

test("the theme follows the system until the reader chooses", async () => {
  const { page, close } = await opened("tabular", { colorScheme: "dark" });
  const becomes = (theme) => page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme, { timeout: 5000 });
  await becomes("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await becomes("light");
  await page.getByRole("button", { name: "Show the page in dark colours" }).click();
  await becomes("dark");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.emulateMedia({ colorScheme: "light" });
  await settled(page);
  await becomes("dark");
  await close();
});

test("the keyboard reaches the result, the theme and the order of the columns", async () => {
  const { page, close } = await opened("tabular");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "To the result");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Dark");
  const firstColumn = () => page.locator("#columns tbody th").first().textContent();
  const before = await firstColumn();
  await page.getByRole("button", { name: "effect" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await firstColumn(), before);
  await page.keyboard.press("Enter");
  assert.notEqual(await firstColumn(), before);
  assert.equal(await page.locator("#columns th[aria-sort]").getAttribute("aria-sort"), "ascending");
  await close();
});

test("the download holds the data of the page", async () => {
  const { page, close } = await opened("tabular");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /Download/ }).click()]);
  const embedded = await page.evaluate(() => document.getElementById("report").textContent);
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), "utf8")), JSON.parse(embedded));
  await close();
});

test("on paper everything is unfolded, light and without buttons", async () => {
  for (const name of ["image", "matrix"]) {
    const { page, complaints, close } = await opened(name, { colorScheme: "dark" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("details:not([open])").count(), 0);
    assert.equal(await page.locator(".chart-box:empty").count(), 0);
    assert.equal(await page.locator("header button:visible, nav:visible").count(), 0);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--ink").trim()), "#22252a");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    const pdf = await page.pdf({ format: "A4" });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    assert.ok(pdf.length > 20_000);
    assert.deepEqual(complaints, []);
    await close();
  }
});
