import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

test("the committed template is what the sources build, byte by byte", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kqd-page-"));
  try {
    await build({ root, configFile: join(root, "vite.config.js"), build: { outDir: folder, emptyOutDir: true } });
    const [built, committed] = [folder, join(root, "dist")].map((place) => readFileSync(join(place, "template.html"), "utf8"));
    assert.ok(built === committed, "web/dist/template.html is stale: ./dev web builds it again");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
