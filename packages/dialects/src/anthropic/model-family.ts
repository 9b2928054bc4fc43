/** Which models verify each other's thinking signatures: those of one family, i.e. one model id but for date and alias endings. */

const HOST_PREFIX = /^.*(?=claude)/;
const ENDING = /(?:[-@](?:\d{8}|latest|default))?(?:-v\d+)?(?::\d+)?$/;

/** A model id without the host's prefix and without date, alias or host version. */
export function modelFamily(model: string): string {
  return model.toLowerCase().replace(HOST_PREFIX, "").replace(ENDING, "");
}

const matchesPattern = (model: string, pattern: string): boolean =>
  pattern.endsWith("*") ? model.startsWith(pattern.slice(0, -1)) : model === pattern;

/**
 * Whether a thinking block of `origin` may be replayed to `target`. The option `reasoningAcceptModels` of a deployment, a list of
 * model ids or prefixes with `*`, widens the rule.
 */
export function acceptsReasoningOf(
  origin: string | undefined,
  target: string,
  options: Readonly<Record<string, unknown>>,
): boolean {
  if (origin === undefined || modelFamily(origin) === modelFamily(target)) return true;
  const accepted = options["reasoningAcceptModels"];
  return (
    Array.isArray(accepted) &&
    accepted.some((pattern) => typeof pattern === "string" && matchesPattern(origin, pattern))
  );
}
