// Writes the API reports in etc/, one for each entry of a published package, from the declarations that were built; with --check it
// compares instead and fails when a report differs, is missing, or belongs to no entry. A change of the public surface thus shows as
// a diff in review.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import {
  ConsoleMessageId,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
} from "@microsoft/api-extractor";

import { REPOSITORY } from "./pack.ts";

/** Folders under packages/ whose surface is reported. */
const REPORTED = ["core", "dialects", "server"];

const REPORTS = join(REPOSITORY, "etc");

/** As a strict consumer reads the declarations. The compiler's own complaints are the business of `npm run smoke`. */
const COMPILER_OPTIONS = {
  target: "ES2023",
  lib: ["ES2023"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
};

/** One entry of a package, and the name of its report. */
interface Entry {
  readonly folder: string;
  readonly declarations: string;
  readonly report: string;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

function entriesOf(name: string): Entry[] {
  const folder = join(REPOSITORY, "packages", name);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const unscoped = manifest.name.replace(/^@[^/]+\//, "");
  return Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            folder,
            declarations: join(folder, target.types),
            report: `${[unscoped, ...subpath.split("/").slice(1)].join("-")}.api.md`,
          },
        ],
  );
}

/** Prepares the extractor for one entry. Notes of the extractor itself stay out of the reports; `isFinding` judges them. */
function configure({ folder, declarations, report }: Entry, scratch: string): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: declarations,
      compiler: { overrideTsconfig: { compilerOptions: COMPILER_OPTIONS, files: [declarations] } },
      apiReport: { enabled: true, reportFileName: report, reportFolder: REPORTS, reportTempFolder: scratch },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: "lf",
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Warning },
          // Everything that an entry exports is public; docs:api asks for the documentation of names.
          "ae-missing-release-tag": { logLevel: ExtractorLogLevel.None },
          "ae-undocumented": { logLevel: ExtractorLogLevel.None },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.Warning } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, "package.json"),
  });
}

/** What the extractor says about the surface, or about a report that differs; its chatter is neither. */
function isFinding({ messageId, logLevel }: ExtractorMessage): boolean {
  if (messageId === ConsoleMessageId.ApiReportDiff) return true;
  return (
    !messageId.startsWith("console-") &&
    (logLevel === ExtractorLogLevel.Warning || logLevel === ExtractorLogLevel.Error)
  );
}

/** Reports one entry; what is wrong comes back as lines. */
function reportEntry(entry: Entry, scratch: string, isCheck: boolean): string[] {
  const problems: string[] = [];
  const { apiReportChanged } = Extractor.invoke(configure(entry, scratch), {
    localBuild: !isCheck,
    printApiReportDiff: isCheck,
    messageCallback(message) {
      message.handled = true;
      if (!isFinding(message)) return;
      const { sourceFilePath, sourceFileLine, text } = message;
      problems.push(sourceFilePath === undefined ? text : `${sourceFilePath}:${sourceFileLine ?? 1}: ${text}`);
    },
  });
  if (isCheck && apiReportChanged) problems.push(`etc/${entry.report} is not what the sources export: npm run api`);
  return problems;
}

/** Reports that no entry has any more. */
function staleReports(entries: readonly Entry[]): string[] {
  const known = new Set(entries.map(({ report }) => report));
  return readdirSync(REPORTS).filter((file) => !known.has(file));
}

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const entries = REPORTED.flatMap(entriesOf);
const scratch = mkdtempSync(join(tmpdir(), "dragoman-api-"));
try {
  const problems = entries.flatMap((entry) => reportEntry(entry, scratch, values.check));
  for (const file of staleReports(entries)) {
    if (values.check) problems.push(`etc/${file} is the report of no entry`);
    else rmSync(join(REPORTS, file));
  }
  for (const problem of problems) console.error(problem);
  console.log(`api: ${entries.length} entries, ${problems.length} problems`);
  if (entries.length === 0 || problems.length > 0) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true });
}
