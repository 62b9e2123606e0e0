import { createHash } from "node:crypto";
import { licences } from "./licences.js";
import { sourcesChecksum } from "./sources_checksum.js";

/**
 * Puts style and script of the build into its page, under a policy that lets these two run by their hashes and
 * nothing else: no other script, no style, no address. The page then needs no file next to it and no network.
 * It carries the checksum of its sources, by which a test knows whether it is still theirs.
 */
export function onePage(fileName) {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const chunk = only(files, "chunk");
      const script = chunk.code.trim();
      const style = String(only(files, "asset", ".css").source).trim();
      const html = String(only(files, "asset", ".html").source);
      for (const [text, end] of [[script, "</script"], [style, "</style"]]) {
        if (text.includes(end) || text.includes("<!--")) throw new Error(`a text within the page would end it: ${end}`);
      }
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: "asset", fileName, source: assembled(html, style, script, licences(chunk.moduleIds)) });
    },
  };
}

function only(files, type, ending = "") {
  const found = files.filter((file) => file.type === type && file.fileName.endsWith(ending));
  if (found.length !== 1) throw new Error(`the build made ${found.length} files of type ${type} ${ending}, not one`);
  return found[0];
}

function assembled(html, style, script, notices) {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const head =
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n` +
    `    <meta name="kqd-sources" content="${sourcesChecksum()}" />\n` +
    `    <style>${style}</style>\n`;
  // Functions, because a replacement text gives $ a meaning.
  return html
    .replace(/ *<(script|link)\b[^>]*\b(src|href)="[^"]*"[^>]*>(<\/script>)?\n?/g, "")
    .replace(/(<meta charset="utf-8" \/>\n *)/, (charset) => charset + head + "    ")
    .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`)
    .replace("</html>", () => `</html>\n<!${"--"}\nThis page contains parts of these packages.\n\n${notices}\n${"--"}>`);
}

function hashOf(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
