/** The order in which a tier's deployments are tried: a weighted draw without replacement. */

/**
 * Orders items by repeated weighted draws. Items of weight 0 come last, in their given order. `random` is uniform in [0, 1)
 * and is called once per draw among more than one item.
 */
export function orderByWeight<Item extends { readonly weight: number }>(
  items: readonly Item[],
  random: () => number,
): readonly Item[] {
  if (items.length < 2) return items;
  const rest = items.filter((item) => item.weight > 0);
  const ordered: Item[] = [];
  let total = rest.reduce((sum, item) => sum + item.weight, 0);
  while (rest.length > 1) {
    let ticket = random() * total;
    let index = 0;
    while (index < rest.length - 1 && ticket >= (rest[index] as Item).weight) {
      ticket -= (rest[index] as Item).weight;
      index += 1;
    }
    const [drawn] = rest.splice(index, 1) as [Item];
    total -= drawn.weight;
    ordered.push(drawn);
  }
  return [...ordered, ...rest, ...items.filter((item) => item.weight <= 0)];
}
