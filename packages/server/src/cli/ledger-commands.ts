/** `dragoman ledger export|spend`: what the ledger's store says of past calls. */
import { suggest } from "@dragoman/core";
import { exportCsv, exportNdjson, formatUsd, type SpendGroup, type SpendRow } from "@dragoman/ledger";

import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { withLedger } from "./ledger-place.ts";
import { readMoment } from "./read-moment.ts";
import { textTable } from "./text-table.ts";

type Values = ReadonlyMap<string, string>;

/** A stretch of time; what is absent has no end on that side. */
export interface Period {
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** Reads `--since` and `--until`; null after a problem was reported. */
export function readPeriod(io: CliIo, values: Values): Period | null {
  const period: { sinceMs?: number; untilMs?: number } = {};
  for (const name of ["since", "until"] as const) {
    const text = values.get(name);
    if (text === undefined) continue;
    const ms = readMoment(text);
    if (ms === null) {
      io.stderr.write(
        `--${name} must be a day or a moment in UTC that exists, such as 2026-11-30 or 2026-11-30T12:00:00Z\n`,
      );
      return null;
    }
    period[`${name}Ms`] = ms;
  }
  return period;
}

/** Characters that are written at a time. */
const CHUNK_CHARACTERS = 65_536;

/** Prints entries line by line, as fast as they are read. */
export async function runLedgerExport(io: CliIo, values: Values): Promise<ExitCode> {
  const format = values.get("format") ?? "csv";
  if (format !== "csv" && format !== "ndjson") {
    io.stderr.write("--format must be csv or ndjson\n");
    return ExitCode.usage;
  }
  const period = readPeriod(io, values);
  if (period === null) return ExitCode.usage;
  return withLedger(io, values, async (store) => {
    const entries = store.entries(period);
    let chunk = "";
    for await (const line of format === "csv" ? exportCsv(entries) : exportNdjson(entries)) {
      chunk += line;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      io.stdout.write(chunk);
      chunk = "";
      if (!(await io.untilRead())) return ExitCode.done;
    }
    io.stdout.write(chunk);
    return ExitCode.done;
  });
}

const GROUPS: readonly SpendGroup[] = ["key", "owner", "endUser", "model", "deployment", "day"];
const COUNTS = ["entries", "input_tokens", "output_tokens", "usd", "unpriced"];

/** Prints sums over entries. */
export async function runLedgerSpend(io: CliIo, values: Values, isJson: boolean): Promise<ExitCode> {
  const by = (values.get("by") ?? "owner").split(",").map((name) => name.trim());
  const unknown = by.find((name) => !isGroup(name));
  if (unknown !== undefined) {
    const nearest = suggest(unknown, GROUPS);
    const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
    io.stderr.write(`--by must name some of ${GROUPS.join(", ")}, not "${unknown}"${hint}\n`);
    return ExitCode.usage;
  }
  const groups = by.filter(isGroup);
  const period = readPeriod(io, values);
  if (period === null) return ExitCode.usage;
  return withLedger(io, values, async (store) => {
    const rows = await store.spend({ by: groups, ...period });
    const sorted = rows.toSorted((one, other) => compareGroups(one, other, groups));
    if (isJson) for (const row of sorted) io.stdout.write(`${JSON.stringify(plainOf(row))}\n`);
    else
      io.stdout.write(
        textTable(
          [...groups, ...COUNTS],
          sorted.map((row) => cellsOf(row, groups)),
        ),
      );
    return ExitCode.done;
  });
}

const isGroup = (name: string): name is SpendGroup => GROUPS.some((group) => group === name);

function compareGroups(one: SpendRow, other: SpendRow, groups: readonly SpendGroup[]): number {
  for (const group of groups) {
    const [left, right] = [one.group[group] ?? "", other.group[group] ?? ""];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

const cellsOf = (row: SpendRow, groups: readonly SpendGroup[]): readonly string[] => [
  ...groups.map((group) => row.group[group] ?? "-"),
  String(row.entries),
  String(row.inputTokens),
  String(row.outputTokens),
  formatUsd(row.costNanoUsd),
  String(row.unpriced),
];

/** Amounts are texts: JSON numbers would lose digits. */
const plainOf = ({ group, costNanoUsd, entries, inputTokens, outputTokens, unpriced }: SpendRow): object => ({
  ...group,
  entries,
  inputTokens,
  outputTokens,
  usd: formatUsd(costNanoUsd),
  unpriced,
});
