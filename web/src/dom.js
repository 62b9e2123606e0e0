/**
 * An element: h("a", { href: "#top", onclick: f }, "text", otherElement, [more]). Texts become text nodes, so that
 * HTML in a name is shown, not parsed. Attributes that are null or false are skipped.
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") setStyle(element, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

/** The same for a drawing. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...present(children));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

// Property by property: the page's content security policy forbids style attributes.
function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
}

/** A section of the page with its heading, linked from the contents. */
export function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/** A table that scrolls on narrow screens, also by keyboard. */
export function table(caption, head, rows, { className = "" } = {}) {
  return h(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      { class: className },
      h("caption", null, caption),
      h("thead", null, h("tr", null, head.map((cell) => headCell(cell)))),
      h("tbody", null, rows.map((row) => bodyRow(row, head))),
    ),
  );
}

/** A head cell from a text, or from { text, number } where the column holds numbers. */
export function headCell(cell) {
  const { text, number = false, ...attributes } = typeof cell === "string" ? { text: cell } : cell;
  const title = typeof text === "string" ? text : null;
  return h("th", { scope: "col", class: number ? "number" : null, title, ...attributes }, text);
}

/** A row whose first cell names it. */
export function bodyRow(cells, head) {
  return h(
    "tr",
    null,
    cells.map((cell, i) => {
      const className = head[i]?.number ? "number" : null;
      const title = typeof cell === "string" ? cell : null; // a long one is cut off
      return i === 0 ? h("th", { scope: "row", class: className, title }, cell) : h("td", { class: className }, cell);
    }),
  );
}

const narrowestChart = 260; // in less room it is drawn like this and shrunk
const usualChart = 640;
const undrawn = new Map();

/** A chart drawn by `draw(width)`, and drawn again when its width changes. */
export function chart(draw) {
  const box = h("div", { class: "chart-box" });
  let drawn = 0;
  const drawFor = (room) => {
    const width = Math.max(narrowestChart, Math.round(room));
    if (width === drawn) return;
    drawn = width;
    undrawn.delete(box);
    box.replaceChildren(draw(width));
  };
  undrawn.set(box, drawFor);
  new ResizeObserver(([{ contentRect }]) => contentRect.width > 0 && drawFor(contentRect.width)).observe(box);
  return box;
}

/** Draws charts that were never visible, for printing. */
export function drawHidden() {
  for (const [, drawFor] of [...undrawn]) drawFor(usualChart);
}

/** A figure with a caption. */
export function figure(caption, ...children) {
  return h("figure", null, ...children, h("figcaption", null, caption));
}
