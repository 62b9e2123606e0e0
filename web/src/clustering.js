/**
 * Average linkage of items with given distances: the two nearest clusters are joined until one is left; the distance
 * of clusters is the mean over the pairs of their members. Returns the tree { members, height, left, right }, with
 * leaves { members: [i], height: 0 }. The smaller indices decide between equal distances.
 */
export function averageLinkage(distances) {
  const clusters = distances.map((_, i) => ({ members: [i], height: 0 }));
  const between = distances.map((row) => [...row]);
  while (clusters.length > 1) {
    const [i, j] = nearestPair(between);
    const joined = join(clusters[i], clusters[j], between[i][j]);
    const weight = clusters[i].members.length / joined.members.length;
    for (let k = 0; k < clusters.length; ++k) {
      between[i][k] = between[k][i] = weight * between[i][k] + (1 - weight) * between[j][k];
    }
    between[i][i] = 0;
    clusters[i] = joined;
    clusters.splice(j, 1);
    between.splice(j, 1);
    for (const row of between) row.splice(j, 1);
  }
  return clusters[0];
}

function nearestPair(between) {
  let best = [0, 1];
  for (let i = 0; i < between.length; ++i) {
    for (let j = i + 1; j < between.length; ++j) {
      if (between[i][j] < between[best[0]][best[1]]) best = [i, j];
    }
  }
  return best;
}

function join(left, right, height) {
  return { members: [...left.members, ...right.members], height, left, right };
}

/** The joins of a tree as lines from child to join to child, at the places of the leaves in its order. */
export function elbows(tree) {
  const placeOf = new Map(tree.members.map((member, place) => [member, place]));
  const lines = [];
  const place = (node) => {
    if (!node.left) return placeOf.get(node.members[0]);
    const [low, high] = [place(node.left), place(node.right)];
    lines.push([
      { height: node.left.height, place: low },
      { height: node.height, place: low },
      { height: node.height, place: high },
      { height: node.right.height, place: high },
    ]);
    return (low + high) / 2;
  };
  place(tree);
  return lines;
}
