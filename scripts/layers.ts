// Checks the import rules of .dependency-cruiser.mjs over one tree. A check that read no module, no import, or no file of
// some package has seen nothing and therefore fails.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { cruise, type ICruiseResult, type IForbiddenRuleType } from "dependency-cruiser";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const ROOTS = ["packages", "tests", "scripts", "examples"];

/** One import that breaks a rule. */
export interface LayerViolation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

/** What one check read and found. `blind` says why the check cannot be trusted, or is `null`. */
export interface LayerReport {
  readonly modules: number;
  readonly imports: number;
  readonly violations: readonly LayerViolation[];
  readonly blind: string | null;
}

interface LayerConfiguration {
  readonly forbidden: readonly IForbiddenRuleType[];
  readonly options: object;
}

/** Reads the rules of this repository. */
export async function loadLayerConfiguration(): Promise<LayerConfiguration> {
  const url = pathToFileURL(join(REPOSITORY, ".dependency-cruiser.mjs")).href;
  const loaded = (await import(url)) as { readonly default: LayerConfiguration };
  return loaded.default;
}

/** Checks the tree under `root`, which has the layout of this repository. */
export async function checkLayers(root: string): Promise<LayerReport> {
  const { forbidden, options } = await loadLayerConfiguration();
  const { output } = await cruise(
    ROOTS.filter((each) => existsSync(join(root, each))),
    { ...options, baseDir: root, validate: true, ruleSet: { forbidden: [...forbidden] } },
    { alias: entriesOf(root) },
  );
  if (typeof output === "string") throw new Error("dependency-cruiser answered with text instead of a result");
  return {
    modules: output.modules.filter(isOurs).length,
    imports: output.summary.totalDependenciesCruised ?? 0,
    violations: output.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
    blind: blindness(root, output),
  };
}

function isOurs(module: ICruiseResult["modules"][number]): boolean {
  return module.matchesDoNotFollow !== true && module.coreModule !== true;
}

function blindness(root: string, { modules, summary }: ICruiseResult): string | null {
  const sources = modules.filter(isOurs).map(({ source }) => source);
  if (sources.length === 0) return "no module was read";
  if (!summary.totalDependenciesCruised) return "no import was read";
  const unread = packagesOf(root).filter(
    (name) => !sources.some((source) => source.startsWith(`packages/${name}/src/`)),
  );
  return unread.length === 0 ? null : `no module of ${unread.join(", ")} was read`;
}

/** Maps every specifier that a package's `exports` open to its source file, so that no build is needed; longest first, as an alias also takes what follows it. */
function entriesOf(root: string): Record<string, string> {
  const entries: Record<string, string> = {};
  for (const folder of packagesOf(root).map((name) => join(root, "packages", name))) {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly name: string;
      readonly exports: object;
    };
    const subpaths = Object.keys(manifest.exports).filter((each) => !each.endsWith(".json"));
    for (const subpath of subpaths.toSorted((one, other) => other.length - one.length)) {
      entries[posix.join(manifest.name, subpath)] = join(folder, "src", subpath, "index.ts");
    }
  }
  return entries;
}

function packagesOf(root: string): string[] {
  const folder = join(root, "packages");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, "package.json")));
}

function render({ modules, imports, violations, blind }: LayerReport): string {
  const lines = violations.map(({ rule, from, to }) => `error ${rule}: ${from} → ${to}`);
  if (blind !== null) lines.push(`error layer check is blind: ${blind}`);
  return [...lines, `layers: ${modules} modules, ${imports} imports, ${lines.length} problems`].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const report = await checkLayers(resolve(process.argv[2] ?? "."));
  console.log(render(report));
  if (report.blind !== null || report.violations.length > 0) process.exitCode = 1;
}
