/** The names of the first and the second sample on the page: those of their files, or of --names. */
export const samples = { x: "X", y: "Y" };

/** Takes the names of the result, once before anything is drawn. */
export function nameSamples(names) {
  if (names?.length === 2) [samples.x, samples.y] = names;
}
