/**
 * Globs over public model names: one `*` at most. What a `*` carries goes into an upstream's model id, so a look-up lets it hold
 * model-id characters only, and nothing that could move inside a path.
 */

/** Spelling of a public model name or glob, as the schema states it. */
export const MODEL_NAME_PATTERN = "^[A-Za-z0-9._:@/-]*\\*?[A-Za-z0-9._:@/-]*$";

const CAPTURE = /^[A-Za-z0-9._:@/-]+$/;
const MAX_CAPTURE_LENGTH = 256;

const isDotSegment = (segment: string): boolean => segment === "" || segment === ".";

/** Whether a text may pass from a client into an upstream's model id. */
export function isModelId(text: string): boolean {
  if (text.length > MAX_CAPTURE_LENGTH || !CAPTURE.test(text) || text.includes("..")) return false;
  return text.split("/").findIndex(isDotSegment) < 0;
}

/** Text that a glob's `*` stands for in a name, or null when the name does not match. A text without `*` matches itself. */
export function matchGlob(glob: string, name: string): string | null {
  const star = glob.indexOf("*");
  if (star < 0) return glob === name ? "" : null;
  const tailLength = glob.length - star - 1;
  if (name.length < star + tailLength || !name.startsWith(glob.slice(0, star))) return null;
  if (tailLength > 0 && !name.endsWith(glob.slice(star + 1))) return null;
  return name.slice(star, name.length - tailLength);
}

/**
 * What a model glob's `*` carries for a client's name, or null. It is never empty, and the whole name is a model id: a part that
 * begins or ends with `/` next to the star is judged in its place.
 */
export function captureModelId(glob: string, name: string): string | null {
  const captured = matchGlob(glob, name);
  return captured !== null && isModelId(captured) && isModelId(name) ? captured : null;
}

/** Puts a captured text in the place of a template's `*`, if it has one. */
export function fillGlob(template: string, captured: string): string {
  const star = template.indexOf("*");
  return star < 0 ? template : template.slice(0, star) + captured + template.slice(star + 1);
}

/** Whether a list of allowed names and globs covers a public model name. */
export function isModelAllowed(allowed: readonly string[], name: string): boolean {
  return allowed.some((glob) => matchGlob(glob, name) !== null);
}
