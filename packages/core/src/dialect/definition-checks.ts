/** What is wrong with a definition of a dialect, for authors whose compiler did not tell them: all of it, in one error. */
import { GatewayError } from "../errors/index.ts";
import type { ClientRoute } from "./client-dialect.ts";

/** Lower-case words joined by hyphens: an id stands in configurations, file names and metrics. */
const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_ID_LENGTH = 64;
const PLACEHOLDER = /\{[^{}]*\}/g;
const CAPTURE = /^\{[a-zA-Z]+\}$/;

/** Names of what a definition must have and may have. */
export interface DefinitionShape {
  /** Functions that only the author can write. */
  readonly required: readonly string[];
  /** Functions with a default. */
  readonly optional: readonly string[];
  /** Members that are no functions. */
  readonly values: readonly string[];
}

/** Collects what is wrong with one definition. */
export class DefinitionProblems {
  readonly #what: string;
  readonly #found: string[] = [];

  constructor(what: string) {
    this.#what = what;
  }

  add(problem: string): void {
    this.#found.push(problem);
  }

  /**
   * Ends the check.
   *
   * @throws {@link GatewayError} `state_violation` with everything that was found; `details.problems` holds it as a list.
   */
  check(id: unknown): void {
    if (this.#found.length === 0) return;
    const name = typeof id === "string" ? ` "${id}"` : "";
    throw new GatewayError(
      "state_violation",
      `The ${this.#what}${name} cannot be defined: ${this.#found.join("; ")}.`,
      {
        details: { problems: [...this.#found] },
      },
    );
  }
}

/** Checks id and doors. Returns false when the definition is no object, so that nothing else can be looked at. */
export function checkShape(
  definition: object,
  shape: DefinitionShape,
  problems: DefinitionProblems,
): definition is Readonly<Record<string, unknown>> {
  if (typeof definition !== "object" || definition === null) {
    problems.add("a definition is an object");
    return false;
  }
  // An object has members; what they are is what is checked here.
  const members = definition as Readonly<Record<string, unknown>>;
  const { id } = members;
  if (typeof id !== "string" || id.length > MAX_ID_LENGTH || !ID.test(id))
    problems.add(
      `id must be lower-case words of letters and digits joined by "-", at most ${MAX_ID_LENGTH} characters`,
    );
  for (const door of shape.required)
    if (typeof members[door] !== "function") problems.add(`${door} is ${missingOr(members[door])}`);
  for (const door of shape.optional)
    if (members[door] !== undefined && typeof members[door] !== "function") problems.add(`${door} is not a function`);
  const known = new Set([...shape.required, ...shape.optional, ...shape.values]);
  // An author's object may have state of its own, but a function that nobody calls is a misspelled door.
  for (const [name, member] of Object.entries(members))
    if (typeof member === "function" && !known.has(name)) problems.add(`${name} is no door of a dialect`);
  return true;
}

const missingOr = (door: unknown): string => (door === undefined ? "missing" : "not a function");

/** Checks a list of distinct words out of a few. */
export function checkWords(
  name: string,
  value: unknown,
  allowed: readonly string[],
  problems: DefinitionProblems,
): void {
  if (value === undefined) return;
  const isList = Array.isArray(value) && value.length > 0;
  const isLegal = isList && value.every((word) => allowed.includes(word as string));
  if (!isLegal) problems.add(`${name} must be a list of ${allowed.map((word) => `"${word}"`).join(", ")}`);
  else if (new Set(value).size < value.length) problems.add(`${name} names one twice`);
}

const METHODS: readonly string[] = ["POST", "GET"];
const ROUTE_OPERATIONS: readonly string[] = ["generate", "count-tokens", "embed", "list-models", "get-model"];

/** Checks the routes of a client dialect: at least one, each legal, none twice. */
export function checkRoutes(value: unknown, problems: DefinitionProblems): void {
  if (!Array.isArray(value) || value.length === 0) {
    problems.add("routes must be a list of at least one route");
    return;
  }
  const seen = new Set<string>();
  for (const [index, route] of (value as readonly unknown[]).entries()) {
    const at = `routes[${index}]`;
    if (!isRoute(route)) {
      problems.add(
        `${at} must have a method (${METHODS.join(", ")}), a path that starts with "/" and a known operation`,
      );
      continue;
    }
    if (/[?#\s]/.test(route.path)) problems.add(`${at} has a path with a query, a fragment or white space`);
    const captures = route.path.match(PLACEHOLDER) ?? [];
    const rest = route.path.replaceAll(PLACEHOLDER, "");
    if (/[{}]/.test(rest) || captures.some((capture) => !CAPTURE.test(capture)))
      problems.add(`${at} has a capture that is not letters in braces`);
    if (new Set(captures).size < captures.length) problems.add(`${at} names a capture twice`);
    const key = `${route.method} ${route.path}`;
    if (seen.has(key)) problems.add(`${at} repeats ${key}`);
    seen.add(key);
  }
}

function isRoute(value: unknown): value is ClientRoute {
  if (typeof value !== "object" || value === null) return false;
  const { method, path, operation } = value as Readonly<Record<string, unknown>>;
  if (typeof path !== "string" || !path.startsWith("/")) return false;
  return METHODS.includes(method as string) && ROUTE_OPERATIONS.includes(operation as string);
}
