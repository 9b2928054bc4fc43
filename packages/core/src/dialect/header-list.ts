/** Header fields as a flat list `[name, value, name, value, …]` in the order and spelling of the wire: no objects on the hot path. */

/** Names at even, values at odd positions. */
export type HeaderList = readonly string[];

/** The first value of a field, compared without regard to case (RFC 9110 §5.1); `lowerName` is lower case. */
export function findHeader(headers: HeaderList, lowerName: string): string | undefined {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index];
    if (
      name !== undefined &&
      name.length === lowerName.length &&
      (name === lowerName || name.toLowerCase() === lowerName)
    )
      return headers[index + 1];
  }
  return undefined;
}

/** Every value of a field, in order. */
export function findHeaders(headers: HeaderList, lowerName: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index];
    if (name !== undefined && name.length === lowerName.length && name.toLowerCase() === lowerName)
      values.push(headers[index + 1] as string);
  }
  return values;
}
