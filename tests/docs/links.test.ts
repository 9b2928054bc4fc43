// Every link between files of the repository leads somewhere, to the heading too where it names one.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import { describe, expect, it } from "vitest";

import { listMarkdownFiles, readAnchors, readLinks, REPOSITORY } from "./markdown-files.ts";

/** Why a link of a page leads nowhere, or null. Addresses outside the repository are not looked at. */
function findProblem(path: string, page: string, link: string): string | null {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return null;
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? path : normalize(join(dirname(path), file));
  if (target.startsWith("..")) return `${link} leaves the repository`;
  if (!existsSync(join(REPOSITORY, target))) return `${link} is not there`;
  if (anchor === undefined) return null;
  const text = file === "" ? page : readFileSync(join(REPOSITORY, target), "utf8");
  return readAnchors(text).includes(anchor) ? null : `${link} names no heading`;
}

function findProblems(path: string, page: string): string[] {
  return readLinks(page).flatMap((link) => findProblem(path, page, link) ?? []);
}

describe("the check of links", () => {
  it.each([
    { link: "docs/errors.md", problems: [] },
    { link: "docs/errors.md#settlement-rules", problems: [] },
    { link: "#here-it-is", problems: [] },
    { link: "https://example.com/nothing", problems: [] },
    { link: "docs/no-such-page.md", problems: ["docs/no-such-page.md is not there"] },
    { link: "docs/errors.md#no-such-heading", problems: ["docs/errors.md#no-such-heading names no heading"] },
    { link: "#not-here", problems: ["#not-here names no heading"] },
    { link: "../README.md", problems: ["../README.md leaves the repository"] },
  ])("finds $problems in $link", ({ link, problems }) => {
    expect(findProblems("README.md", `# Here it is\n\nSee [this](${link}), not \`[that](nowhere.md)\`.\n`)).toEqual(
      problems,
    );
  });
});

const files = listMarkdownFiles();

it("reads the pages of the repository", () => {
  expect(files).toEqual(expect.arrayContaining(["README.md", "docs/errors.md", "packages/core/README.md"]));
});

it.each(files)("%s links to what is there", (path) => {
  expect(findProblems(path, readFileSync(join(REPOSITORY, path), "utf8"))).toEqual([]);
});
