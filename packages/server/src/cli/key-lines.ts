/** The file of `dragoman keys import`: a key a line, by its hash. */

/** One key. */
export interface KeyLine {
  /** From 1. */
  readonly line: number;
  readonly name: string;
  /** `sha256:` and 64 hexadecimal digits in lower case. */
  readonly hash: string;
  readonly owner?: string;
}

/** A line that names no key. */
export interface KeyLineProblem {
  readonly line: number;
  readonly message: string;
}

const HASH = /^sha256:[0-9A-Fa-f]{64}$/;
const HEADER = "name,hash,owner";

/** Reads lines of `sha256:HEX` and of `name,sha256:HEX,owner`, the owner optional. Empty lines, `#` comments and a CSV header are passed over. */
export function readKeyLines(text: string): {
  readonly lines: readonly KeyLine[];
  readonly problems: KeyLineProblem[];
} {
  const lines: KeyLine[] = [];
  const problems: KeyLineProblem[] = [];
  const seen = new Map<string, number>();
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const content = raw.trim();
    const line = index + 1;
    if (content === "" || content.startsWith("#") || (lines.length === 0 && content.toLowerCase() === HEADER)) continue;
    const key = readLine(content, line);
    if (key === null) {
      // The line is not repeated: somebody may have put a secret into it.
      problems.push({ line, message: "must be sha256:HEX, or name,sha256:HEX and perhaps an owner" });
      continue;
    }
    const first = seen.get(key.hash);
    if (first !== undefined) problems.push({ line, message: `has the hash of line ${first}` });
    seen.set(key.hash, first ?? line);
    lines.push(key);
  }
  return { lines, problems };
}

/** Digits of the hash that stand for the name of a key that has none. */
const NAME_DIGITS = 12;

function readLine(content: string, line: number): KeyLine | null {
  const cells = content.split(",").map((cell) => cell.trim());
  const [name = "", hash = "", owner = ""] = cells.length === 1 ? ["", cells[0]] : cells;
  if (cells.length > 3 || !HASH.test(hash)) return null;
  const lower = hash.toLowerCase();
  const named = name === "" ? `import-${lower.slice("sha256:".length, "sha256:".length + NAME_DIGITS)}` : name;
  return owner === "" ? { line, name: named, hash: lower } : { line, name: named, hash: lower, owner };
}
