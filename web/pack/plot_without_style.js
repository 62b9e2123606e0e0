/**
 * Observable Plot puts a style element into every chart, which a strict policy would refuse. The page has these
 * rules in its own style (src/style.css, .chart), so the element is left out of Plot's source.
 */
export function plotWithoutStyle() {
  const element = /svg\.append\("style"\)\.text\(\s*`[^`]*`\s*\)/;
  return {
    name: "plot-without-style",
    enforce: "pre",
    transform(code, id) {
      if (!/@observablehq\/plot\/src\/(plot|legends\/ramp)\.js$/.test(id)) return null;
      if (!element.test(code)) throw new Error(`${id} has no style element where it was expected`);
      return { code: code.replace(element, "svg"), map: null };
    },
  };
}
