// Packs the published packages as npm would ship them, for the checks that must see tarballs and not the work tree.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this repository. */
export const REPOSITORY: string = fileURLToPath(new URL("..", import.meta.url));

/** A packed package: its published name, the packages it depends on, its import specifiers and its tarball. */
export interface Packed {
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly specifiers: readonly string[];
  readonly tarball: string;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Runs a program with its output shown and throws when it does not end with 0. */
export function run(program: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`);
}

/** Runs a program and throws with its output when it does not end with 0. */
export function runQuietly(program: string, args: readonly string[], cwd: string): void {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

/** The path of a program that the repository's development dependencies bring. */
export function tool(name: string): string {
  return join(REPOSITORY, "node_modules", ".bin", name);
}

/** Packs every published workspace into `folder`, in layer order. Needs a build. */
export function packAll(folder: string): Packed[] {
  const packed = publishedFolders().map((path) => pack(path, folder));
  if (packed.length === 0) throw new Error("no published package was found");
  return packed;
}

function publishedFolders(): string[] {
  const { workspaces } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as {
    readonly workspaces: readonly string[];
  };
  return workspaces
    .filter((path) => !path.includes("*"))
    .map((path) => join(REPOSITORY, path))
    .filter((path) => readManifest(path).private !== true);
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
}

function pack(path: string, folder: string): Packed {
  const { name, dependencies = {}, exports } = readManifest(path);
  const args = ["pack", "--json", "--pack-destination", folder];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: path, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm pack of ${name} ended with ${status}: ${stderr}`);
  const [report] = JSON.parse(stdout) as readonly { readonly filename: string }[];
  if (report === undefined) throw new Error(`npm pack of ${name} reported no tarball`);
  const specifiers = Object.keys(exports)
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => name + subpath.slice(1));
  return { name, dependencies: Object.keys(dependencies), specifiers, tarball: join(folder, report.filename) };
}
