/** Deep freezing of what a snapshot holds: plain objects, arrays, maps and sets. Instances of classes guard themselves. */

const REFUSAL: PropertyDescriptor = {
  value: (): never => {
    throw new TypeError("A compiled configuration is immutable.");
  },
};

/** Freezes a map: the methods that change it throw. */
export function freezeMap<Key, Value>(map: Map<Key, Value>): ReadonlyMap<Key, Value> {
  return Object.freeze(Object.defineProperties(map, { set: REFUSAL, delete: REFUSAL, clear: REFUSAL }));
}

/** Freezes a set: the methods that change it throw. */
export function freezeSet<Value>(set: Set<Value>): ReadonlySet<Value> {
  return Object.freeze(Object.defineProperties(set, { add: REFUSAL, delete: REFUSAL, clear: REFUSAL }));
}

const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Freezes a tree of plain objects and arrays in place and returns it; whatever else it meets is left as it is. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || !isPlain(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
