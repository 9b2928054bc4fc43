/** What is wrong with a configuration, and where: problems are values, and all of them are collected. */

/** One mistake in a configuration. */
export interface ConfigProblem {
  /** JSON Pointer (RFC 6901) to the member; for a missing one, to the object that lacks it. */
  readonly path: string;
  /** What is wrong and what would be right. Never holds a secret. */
  readonly message: string;
  /** The known name that an unknown one probably meant. */
  readonly suggestion?: string;
}

/** Appends reference tokens to a JSON Pointer (RFC 6901 §3). */
export function pointer(base: string, ...tokens: readonly (string | number)[]): string {
  let path = base;
  for (const token of tokens) path += `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return path;
}

/** Splits a JSON Pointer into its reference tokens. */
export function pointerTokens(path: string): readonly string[] {
  return path
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Collects problems, in the order they are found. */
export class ProblemList {
  readonly problems: ConfigProblem[] = [];

  add(path: string, message: string, suggestion?: string): void {
    if (suggestion === undefined) this.problems.push({ path, message });
    else this.problems.push({ path, message: `${message}; did you mean "${suggestion}"?`, suggestion });
  }
}
