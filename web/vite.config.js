import { defineConfig } from "vite";
import { onePage } from "./pack/one_page.js";
import { plotWithoutStyle } from "./pack/plot_without_style.js";

export default defineConfig({
  base: "./",
  logLevel: "warn",
  plugins: [plotWithoutStyle(), onePage("template.html")],
  build: { target: "es2022", modulePreload: false, assetsInlineLimit: 0, cssCodeSplit: false },
});
