import { dendrogram, heatMap } from "../charts.js";
import { averageLinkage, elbows } from "../clustering.js";
import { chart, figure, h, section, table } from "../dom.js";
import { distanceImage } from "../images.js";
import { count, integer, number } from "../words.js";
import { columnDecisions } from "./compared.js";
import { pairsOf } from "./verdict.js";

const shownPairs = 10;
const mostNamed = 60;

/** Distances between many data sets: heat map, tree, nearest and furthest pairs. */
export function matrix(report) {
  const { result } = report;
  const tree = averageLinkage(result.distances);
  return [dataSets(report), map(result, tree.members), treePart(result, tree), nearestPairs(result)];
}

function dataSets(report) {
  const { names, n, dim } = report.result;
  const [least, most] = [Math.min(...n), Math.max(...n)];
  const sizes = least === most ? count(most, "row") : `${integer(least)} to ${count(most, "row")}`;
  const sets = table("The data sets", ["data set", { text: "rows", number: true }], names.map((name, i) => [name, integer(n[i])]));
  return section(
    "compared",
    "What was compared",
    h("p", null, `${count(names.length, "data set")} of ${sizes} and ${count(dim, "column")}, all compared with the same settings.`),
    names.length > 6 ? h("details", null, h("summary", null, "The data sets"), sets) : sets,
    columnDecisions(report),
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
    figure("The stronger the colour, the larger the distance. Similar data sets are next to each other.", chart((width) => heatMap(width, shown, description))),
    h("details", null, h("summary", null, "The distances as a table"), square("Distances", names, distances, order)),
    result.pvalues && h("details", null, h("summary", null, "The p-values as a table"), square("p-values", names, result.pvalues, order), square("p-values adjusted for all pairs", names, result.adjusted_pvalues, order)),
  );
}

// A map without names and numbers, for which there is no room.
function crowdedMap(distances, order) {
  const caption = `The stronger the colour, the larger the distance. The ${integer(order.length)} data sets are in the order of the tree; the numbers are in the JSON.`;
  const description = `Heat map of the distances between ${count(order.length, "data set")}.`;
  return section("map", "All distances", h("div", { class: "crowded" }, figure(caption, distanceImage(distances, order, description))));
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
    "Similarity tree",
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
    result.pvalues && h("p", { class: "note" }, `P-values are adjusted for all pairs by Holm\u2019s rule: if all data sets had the same distribution, the probability of any adjusted value at or below ${number(result.alpha)} would be at most ${number(result.alpha)}.`),
  );
}

function pairsTable(caption, { names, alpha, pvalues }, pairs) {
  const numbers = pvalues ? ["distance", "p-value", "adjusted"] : ["distance"];
  const head = ["data set", "data set", ...numbers.map((text) => ({ text, number: true }))];
  const tested = (pair) => (pvalues ? [number(pair.pvalue), h("span", { class: pair.adjusted <= alpha ? "strong" : null }, number(pair.adjusted))] : []);
  return table(caption, head, pairs.map((pair) => [names[pair.i], names[pair.j], number(pair.distance, 4), ...tested(pair)]));
}
