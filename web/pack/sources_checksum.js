import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** SHA-256 over names and contents of all that the template is built from, in the order of their names. */
export function sourcesChecksum() {
  const checksum = createHash("sha256");
  for (const name of sources()) checksum.update(`${name}\n`).update(readFileSync(join(root, name)));
  return checksum.digest("hex");
}

function sources() {
  const folders = ["pack", "src"].flatMap((folder) => filesOf(join(root, folder)));
  const names = folders.map((path) => relative(root, path).split(sep).join("/"));
  return [...names, "index.html", "package-lock.json", "vite.config.js"].sort();
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
