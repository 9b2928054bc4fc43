/** Ports as the command line and its variables spell them. */

/** Undefined where none was given, null where it is no port. */
export function readPort(text: string | undefined): number | undefined | null {
  if (text === undefined) return undefined;
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
}
