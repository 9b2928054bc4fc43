// Which request targets are served: origin-form only (RFC 9112 §3.2.1), in a spelling that no normalisation could turn into another
// path. Routes match the raw path, so nothing that a proxy before us might rewrite is let through.

/** The visible ASCII characters without those that RFC 3986 §2 keeps out of a URI. */
const TARGET = /^[!$-;=?-Z[\]_a-z~%]+$/;
/** `.` and `..` as whole segments, also percent-encoded (RFC 3986 §5.2.4, §6.2.2.3). */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const BAD_ESCAPE = /%(?![0-9a-f]{2})|%00/i;

/** Why a target is refused, as a sentence that never quotes it; null = it is served. */
export function findTargetProblem(target: string): string | null {
  if (target.charCodeAt(0) !== 0x2f) return "The request target must be a path that begins with '/'.";
  if (!TARGET.test(target)) return "The request target has a character that a URI may not contain.";
  const path = pathOf(target);
  if (path.includes("//")) return "The request target's path has an empty segment.";
  // Most targets have no dot segment or escape: two searches spare them the expressions.
  if (path.includes("/.") || path.includes("%")) {
    if (DOT_SEGMENT.test(path)) return "The request target's path has a dot segment.";
  }
  if (target.includes("%") && BAD_ESCAPE.test(target)) return "The request target has an invalid percent escape.";
  return null;
}

/** The part of a target before its query. */
export function pathOf(target: string): string {
  const queryAt = target.indexOf("?");
  return queryAt < 0 ? target : target.slice(0, queryAt);
}

/** The part of a target behind its first question mark; empty without one. */
export function queryOf(target: string): string {
  const queryAt = target.indexOf("?");
  return queryAt < 0 ? "" : target.slice(queryAt + 1);
}
