// Chooses the request of a mix by its index: seeded, so that the gateway run, the direct run and every target get the same sequence.

/** Picks an index of `weights` for the `index`-th request. */
export function pickRequest(weights: readonly number[], seed: number, index: number): number {
  if (weights.length === 1) return 0;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let point = unitHash(seed, index) * total;
  for (let each = 0; each < weights.length; each += 1) {
    point -= weights[each] ?? 0;
    if (point < 0) return each;
  }
  return weights.length - 1;
}

/** A number in [0, 1) from two integers: the finaliser of MurmurHash3, whose output bits each depend on all input bits. */
function unitHash(seed: number, index: number): number {
  let hash = (seed ^ Math.imul(index + 1, 0x9e3779b1)) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return (hash >>> 0) / 2 ** 32;
}
