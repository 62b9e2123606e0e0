// Takes the figure of the report page for README and guide: the result, and the direction along which the samples differ
// most, side by side.
//
// Usage: node tools/report_figure.mjs KQD_PROGRAM FIGURE.png
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const [program, figure] = process.argv.slice(2).map((path) => resolve(path));
const size = { width: 760, height: 700 };

const folder = mkdtempSync(join(tmpdir(), "kqd-figure-"));
const browser = await chromium.launch({
  executablePath: process.env.KQD_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const html = join(folder, "change.html");
  const data = ["sensors-march.csv", "sensors-april.csv"];
  execFileSync(program, ["test", ...data, "--quiet", "--report", html], { cwd: join(root, "data") });
  const page = await browser.newPage({ viewport: size, colorScheme: "light" });
  await page.goto(pathToFileURL(html).href);
  const parts = [(await page.screenshot()).toString("base64")];
  // Charts are drawn when they come into view, which moves the parts below them: scroll until the place is stable.
  for (let turn = 0; turn < 5; ++turn) {
    await page.evaluate(() => (document.querySelector("#where h3") ?? document.querySelector("#where")).scrollIntoView());
    await page.waitForTimeout(300);
  }
  parts.push((await page.screenshot()).toString("base64"));
  const images = parts.map((part) => `<img src="data:image/png;base64,${part}">`).join("");
  writeFileSync(join(folder, "both.html"), `<body style="margin:0;display:flex;gap:16px;background:#dcdad4">${images}</body>`);
  const both = await browser.newPage({ viewport: { width: 2 * size.width + 16, height: size.height } });
  await both.goto(pathToFileURL(join(folder, "both.html")).href);
  await both.screenshot({ path: figure });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
