import { h, section, table } from "../dom.js";
import { sampleKey } from "../marks.js";
import { count, integer, number } from "../words.js";
import { relationFigure } from "./changes.js";

const shownFigures = 4;
const shownPairs = 10;

/** Pairs of columns whose relation differs, ranked, with a figure for each that is significant. */
export function relations({ explanation }) {
  const { relations: all, n_relations_examined: examined, n_relation_rows: used, n_x, n_y, alpha } = explanation;
  if (!all || all.length === 0) return null;
  const different = all.filter(({ reject }) => reject);
  const some = used < n_x + n_y ? ` ${integer(used)} of ${integer(n_x + n_y)} rows were used, chosen at random.` : "";
  return section(
    "relations",
    "Relations between columns",
    h(
      "p",
      null,
      `Two columns can be related in another way although neither differs by itself. ${count(examined, "pair")} of columns ${examined === 1 ? "was" : "were"} examined; ` +
        `p-values are adjusted for all of them by the largest score in each permutation (family-wise level ${number(alpha)}).${some}`,
    ),
    different.length > 0 && sampleKey(),
    h("div", { class: "pair" }, different.slice(0, shownFigures).map(relationPart)),
    table(
      different.length > 0 ? "Pairs of columns, largest change first" : "Pairs of columns, largest change first (none is significant)",
      ["relation", { text: "adjusted", number: true }, { text: "p-value", number: true }, "change"],
      all.slice(0, shownPairs).map((r) => [r.name, h("span", { class: r.reject ? "strong" : null }, number(r.pvalue_adjusted)), number(r.pvalue), r.change]),
    ),
  );
}

function relationPart(relation) {
  return h("article", { class: "relation" }, h("h3", null, relation.name), h("p", { class: "note" }, relation.change), relationFigure(relation));
}
