import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The licences of the packages whose modules went into the page, as their terms ask: each text once, under the names of
 * the packages that share it.
 */
export function licences(moduleIds) {
  const packagesByText = new Map();
  for (const folder of packageFolders(moduleIds)) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = licenceText(folder) ?? `Licence: ${license}`;
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
  }
  return [...packagesByText].map(([text, names]) => `${names.join(", ")}\n\n${text}`).join("\n\n* * *\n\n");
}

function packageFolders(moduleIds) {
  const folders = moduleIds.map((id) => id.match(/^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(folders.filter((folder) => folder && existsSync(join(folder, "package.json"))))].sort();
}

function licenceText(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file && readFileSync(join(folder, file), "utf8").trim().replace(/\r/g, "").replaceAll("--", "- -");
}
