import { scatterChart } from "../charts.js";
import { chart, figure, h, section } from "../dom.js";
import { sampleKey } from "../marks.js";
import { samples } from "../samples.js";
import { integer } from "../words.js";

/** Both samples along the two strongest directions. */
export function scatter({ explanation }) {
  const points = explanation.scatter;
  if (!points || points.names.length < 2) return null;
  const { names, shown_x, of_x, shown_y, of_y } = points;
  const all = shown_x === of_x && shown_y === of_y;
  const thinned = all
    ? "All rows are shown."
    : `${integer(shown_x)} of ${integer(of_x)} rows of ${samples.x} and ${integer(shown_y)} of ${integer(of_y)} rows of ${samples.y} are shown, chosen at random.`;
  const description = `Scatter plot of ${samples.x} and ${samples.y} along ${names[0]} and ${names[1]}. ${thinned}`;
  return section(
    "scatter",
    "Scatter plot",
    h("p", null, "Each row is a point, along the two directions that separate the samples best."),
    sampleKey(),
    figure(thinned, chart((width) => scatterChart(width, points, description))),
  );
}
