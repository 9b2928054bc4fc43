// The Markdown files of the repository, and what the checks of the documentation look for in them.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const REPOSITORY: string = fileURLToPath(new URL("../..", import.meta.url));

/** A fenced block of code. */
export interface CodeBlock {
  readonly language: string;
  /** Line of its first line of code, 1 being the first of the page. */
  readonly line: number;
  readonly code: string;
}

/** Markdown files that are or could be committed, relative to the root. */
export function listMarkdownFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], {
    cwd: REPOSITORY,
    encoding: "utf8",
  });
  return listed.split("\0").filter((path) => path !== "" && existsSync(join(REPOSITORY, path)));
}

/** The fenced blocks of a page. */
export function readCodeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | null = null;
  for (const [index, line] of page.split("\n").entries()) {
    const fence = /^```(\w*)/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === null) open = { language: fence[1] ?? "", line: index + 2, lines: [] };
    else {
      blocks.push({ language: open.language, line: open.line, code: `${open.lines.join("\n")}\n` });
      open = null;
    }
  }
  return blocks;
}

/** A page without its code, in fences and in lines: what is left is prose. */
function withoutCode(page: string): string {
  let isInside = false;
  const prose = page.split("\n").filter((line) => {
    const isFence = line.startsWith("```");
    if (isFence) isInside = !isInside;
    return !isFence && !isInside;
  });
  return prose.join("\n").replaceAll(/`[^`\n]*`/g, "");
}

/** Targets of the links in a page. */
export function readLinks(page: string): string[] {
  return [...withoutCode(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target ?? "");
}

/** The fragments that a page's headings have, as GitHub makes them. */
export function readAnchors(page: string): string[] {
  let isInside = false;
  return page.split("\n").flatMap((line) => {
    if (line.startsWith("```")) isInside = !isInside;
    const heading = isInside ? null : /^#{1,6} (.+)$/.exec(line);
    if (heading === null) return [];
    const text = (heading[1] ?? "").toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "");
    return [text.trim().replaceAll(/\s/g, "-")];
  });
}
