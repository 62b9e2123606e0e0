import assert from "node:assert/strict";
import { test } from "node:test";
import { averageLinkage, elbows } from "../src/clustering.js";

// A small generator of our own, so that every run sees the same numbers.
function numbers(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function randomDistances(size, seed) {
  const next = numbers(seed);
  const distances = Array.from({ length: size }, () => Array(size).fill(0));
  for (let i = 0; i < size; ++i) for (let j = 0; j < i; ++j) distances[i][j] = distances[j][i] = next();
  return distances;
}

function meanBetween(distances, left, right) {
  const all = left.flatMap((i) => right.map((j) => distances[i][j]));
  return all.reduce((a, b) => a + b) / all.length;
}

function joinsOf(tree) {
  return tree.left ? [tree, ...joinsOf(tree.left), ...joinsOf(tree.right)] : [];
}

test("groups join at the mean of all distances between their members", () => {
  const distances = randomDistances(17, 3);
  const joins = joinsOf(averageLinkage(distances));
  assert.equal(joins.length, 16);
  for (const { left, right, height } of joins) {
    assert.ok(Math.abs(height - meanBetween(distances, left.members, right.members)) < 1e-12);
  }
});

test("no two groups that were nearer were left apart", () => {
  const distances = randomDistances(12, 5);
  const joins = joinsOf(averageLinkage(distances)).sort((a, b) => a.height - b.height);
  let groups = distances.map((_, i) => [i]);
  for (const { left, right, height } of joins) {
    for (const a of groups) for (const b of groups) if (a !== b) assert.ok(meanBetween(distances, a, b) > height - 1e-12);
    const joined = [...left.members, ...right.members];
    groups = [...groups.filter((group) => !joined.includes(group[0])), joined];
  }
  assert.equal(groups.length, 1);
});

test("two tight pairs far apart are found as such", () => {
  const places = [0, 10, 1, 12];
  const tree = averageLinkage(places.map((a) => places.map((b) => Math.abs(a - b))));
  assert.deepEqual([tree.left.members, tree.right.members], [[0, 2], [1, 3]]);
  assert.deepEqual([tree.left.height, tree.right.height, tree.height], [1, 2, 10.5]);
});

test("one data set only is a tree without joins", () => {
  assert.deepEqual(averageLinkage([[0]]).members, [0]);
  assert.deepEqual(elbows(averageLinkage([[0]])), []);
});

test("lines of the drawn tree cross none: every join spans neighbours", () => {
  const tree = averageLinkage(randomDistances(9, 7));
  assert.equal(elbows(tree).length, 8);
  for (const [from, low, high, to] of elbows(tree)) {
    assert.ok(from.place === low.place && high.place === to.place && low.place < high.place);
    assert.ok(low.height === high.height && low.height >= from.height && high.height >= to.height);
  }
});
