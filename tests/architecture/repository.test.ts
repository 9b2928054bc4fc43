// What must never be committed: addresses of package registries, paths of the machine a change was made on, and a lockfile
// that binds contributors to one registry.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const LOCKFILES = ["package-lock.json", "tests/newest-sdks/package-lock.json"];

/** Written in pieces, or this file would be its own first finding. */
const LOCAL_PATH = new RegExp(`(?<![\\w.~/-])/(${["work", "root", "home/[a-z]+", "Users"].join("|")})/[\\w.@-]`);
const REGISTRY_HOSTS = new RegExp(
  [
    ["registry", "npmjs", "org"],
    ["registry", "yarnpkg", "com"],
    ["files", "pythonhosted", "org"],
    ["proxy", "golang", "org"],
    ["static", "crates", "io"],
    ["deb", "debian", "org"],
  ]
    .map((parts) => parts.join("\\."))
    .join("|"),
);

function findings(text: string): string[] {
  return text.split("\n").filter((line) => LOCAL_PATH.test(line) || REGISTRY_HOSTS.test(line));
}

function committedFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: REPOSITORY,
    encoding: "utf8",
  });
  return listed.split("\0").filter((path) => path !== "" && existsSync(join(REPOSITORY, path)));
}

describe("committed files", () => {
  it.each([
    { line: `open ${["", "work", "main", "x.ts"].join("/")}` },
    { line: `"${["", "root", ".npm"].join("/")}"` },
    { line: `"resolved": "https://${["registry", "npmjs", "org"].join(".")}/ajv"` },
  ])("are searched for $line", ({ line }) => {
    expect(findings(line)).toEqual([line]);
  });

  it.each([{ line: "GET /v1/work/items" }, { line: "see ./work/plan.md" }, { line: "https://host/root/x" }])(
    "may hold $line",
    ({ line }) => {
      expect(findings(line)).toEqual([]);
    },
  );

  it("name no registry and no path of a machine", () => {
    const files = committedFiles();
    expect(files).toContain("package.json");
    const found = files.flatMap((path) => {
      const text = readFileSync(join(REPOSITORY, path), "utf8");
      return text.includes("\0") ? [] : findings(text).map((line) => `${path}: ${line.trim().slice(0, 120)}`);
    });
    expect(found).toEqual([]);
  });
});

describe.each(LOCKFILES)("%s", (path) => {
  const lock = JSON.parse(readFileSync(join(REPOSITORY, path), "utf8")) as {
    readonly packages: Readonly<
      Record<string, { readonly resolved?: string; readonly integrity?: string; readonly link?: true }>
    >;
  };
  const external = Object.entries(lock.packages).filter(
    ([name, { link }]) => name.includes("node_modules/") && link !== true,
  );

  it("holds an integrity and no address for every package", () => {
    expect(external.length).toBeGreaterThan(0);
    const wrong = external.filter(([, { resolved, integrity }]) => resolved !== undefined || integrity === undefined);
    expect(wrong.map(([name]) => name)).toEqual([]);
  });
});
