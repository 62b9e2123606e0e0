import { dendrogram, heatMap } from "../charts.js";
import { averageLinkage, elbows } from "../clustering.js";
import { chart, figure, h, section, table } from "../dom.js";
import { distancePicture } from "../pictures.js";
import { count, integer, number } from "../words.js";
import { pairsOf } from "./verdict.js";

const shownPairs = 10;
const mostNamed = 60;

/** Distances of many data sets: as a map, as a tree, and the pairs at both ends. */
export function matrix(report) {
  const { result } = report;
  const tree = averageLinkage(result.distances);
  return [dataSets(result), map(result, tree.members), treePart(result, tree), nearestPairs(result)];
}

function dataSets({ names, n, dim }) {
  const [least, most] = [Math.min(...n), Math.max(...n)];
  const sizes = least === most ? count(most, "row") : `${integer(least)} to ${count(most, "row")}`;
  const sets = table("The data sets", ["data set", { text: "rows", number: true }], names.map((name, i) => [name, integer(n[i])]));
  return section(
    "compared",
    "What was compared",
    h("p", null, `${count(names.length, "data set")} of ${sizes} and ${count(dim, "column")}, compared with the same settings throughout.`),
    names.length > 6 ? h("details", null, h("summary", null, "The data sets"), sets) : sets,
  );
}

function map(result, order) {
  const { names, distances } = result;
  if (names.length > mostNamed) return crowdedMap(distances, order);
  const shown = { names, values: distances, order };
  const description = `Heat map of the distances between ${count(names.length, "data set")}; the numbers follow as a table.`;
  return section(
    "map",
    "All distances",
    figure("The stronger the colour, the further apart. Data sets that are alike stand side by side.", chart((width) => heatMap(width, shown, description))),
    h("details", null, h("summary", null, "The distances as a table"), square("Distances", names, distances, order)),
    result.pvalues && h("details", null, h("summary", null, "The p-values as a table"), square("p-values", names, result.pvalues, order), square("p-values adjusted for all pairs", names, result.adjusted_pvalues, order)),
  );
}

// Too many for names and numbers.
function crowdedMap(distances, order) {
  const caption = `The stronger the colour, the further apart. The ${integer(order.length)} data sets stand in the order of the tree; the numbers are in the JSON.`;
  const description = `Heat map of the distances between ${count(order.length, "data set")}.`;
  return section("map", "All distances", h("div", { class: "crowded" }, figure(caption, distancePicture(distances, order, description))));
}

function square(caption, names, values, order) {
  const head = ["", ...order.map((j) => ({ text: names[j], number: true }))];
  return table(caption, head, order.map((i) => [names[i], ...order.map((j) => (i === j ? "\u2013" : number(values[i][j])))]), { className: "compact" });
}

function treePart({ names }, tree) {
  const shown = { names, order: tree.members, lines: elbows(tree) };
  const description = `Tree of the data sets by average linkage; the last two groups join at ${number(tree.height)}.`;
  return section(
    "tree",
    "Which are alike",
    figure("Average linkage: groups join at the mean distance between their members.", chart((width) => dendrogram(width, shown, description))),
  );
}

function nearestPairs(result) {
  const pairs = pairsOf(result);
  const few = pairs.length <= 2 * shownPairs;
  return section(
    "pairs",
    "Pairs",
    pairsTable(few ? "All pairs, the nearest first" : `The nearest ${shownPairs} of ${count(pairs.length, "pair")}`, result, few ? pairs : pairs.slice(0, shownPairs)),
    !few && pairsTable(`The furthest ${shownPairs}`, result, pairs.slice(-shownPairs).reverse()),
    result.pvalues && h("p", { class: "note" }, `Adjusted by Holm\u2019s rule over all pairs: if all data sets came from one distribution, the chance of even one adjusted value at or below ${number(result.alpha)} would be ${number(result.alpha)} at most.`),
  );
}

function pairsTable(caption, { names, alpha, pvalues }, pairs) {
  const numbers = pvalues ? ["distance", "p-value", "adjusted"] : ["distance"];
  const head = ["data set", "data set", ...numbers.map((text) => ({ text, number: true }))];
  const tested = (pair) => (pvalues ? [number(pair.pvalue), h("span", { class: pair.adjusted <= alpha ? "strong" : null }, number(pair.adjusted))] : []);
  return table(caption, head, pairs.map((pair) => [names[pair.i], names[pair.j], number(pair.distance, 4), ...tested(pair)]));
}
