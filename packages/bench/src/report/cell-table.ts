// A cell as a table, the same for Markdown and HTML: columns by what the cell measures, one row per target, notes below.
import type { MetricName } from "../contract/record.ts";
import { partsOf, SCENARIOS } from "../matrix/scenarios.ts";
import type { ComparedCell, ComparedRow, ComparedTarget } from "./comparison.ts";
import { formatCount, formatSpread, NOT_MEASURED } from "./format-figures.ts";

/** A rendered table. */
export interface CellTable {
  readonly header: readonly string[];
  readonly rows: readonly { readonly cells: readonly string[]; readonly isDoubtful: boolean }[];
  /** Marks and their explanations, void reasons, remarks of the targets. */
  readonly notes: readonly string[];
}

interface Column {
  readonly title: string;
  readonly metric: MetricName;
  /** Measures the queue when the target is saturated. */
  readonly isLatency: boolean;
}

const column = (title: string, metric: MetricName, isLatency = false): Column => ({ title, metric, isLatency });

const OVERHEAD: readonly Column[] = [
  column("overhead p50", "overheadP50Us", true),
  column("overhead p99", "overheadP99Us", true),
  column("overhead p99.9", "overheadP999Us", true),
];
/** The mock rejects nothing, so a refusal has no direct counterpart to subtract. */
const REFUSAL: readonly Column[] = [
  column("latency p50", "latencyP50Us", true),
  column("latency p99", "latencyP99Us", true),
  column("latency p99.9", "latencyP999Us", true),
];
const STREAM: readonly Column[] = [
  column("TTFT overhead p50", "ttftOverheadP50Us", true),
  column("TTFT overhead p99", "ttftOverheadP99Us", true),
  column("gap overhead p99", "gapOverheadP99Us", true),
];
const THROUGHPUT: readonly Column[] = [column("requests/s", "achievedRps"), column("errors", "errorFraction")];
const RESOURCES: readonly Column[] = [
  column("CPU/request", "cpuUsPerRequest"),
  column("share of its cores", "coreShare"),
  column("RSS idle", "rssIdleBytes"),
  column("RSS peak", "rssPeakBytes"),
];
const IDLE: readonly Column[] = [
  column("share of its cores", "coreShare"),
  column("RSS idle", "rssIdleBytes"),
  column("RSS peak", "rssPeakBytes"),
];

/** The columns of a cell. */
export function columnsOf({ cell }: Pick<ComparedCell, "cell">): readonly Column[] {
  if (cell.load.kind === "idle") return IDLE;
  const isStream = partsOf(SCENARIOS[cell.scenario]).every(({ scenario }) => scenario.expect === "stream");
  const saturation = cell.load.kind === "ladder" ? [column("saturation, requests/s", "saturationRps")] : [];
  const isRefusal = SCENARIOS[cell.scenario].expect === "rejection";
  return [...saturation, ...(isRefusal ? REFUSAL : OVERHEAD), ...(isStream ? STREAM : []), ...THROUGHPUT, ...RESOURCES];
}

/** Builds the table of a cell. */
export function tabulateCell(compared: ComparedCell, targets: readonly ComparedTarget[]): CellTable {
  const columns = columnsOf(compared);
  const nameOf = (id: string): string => targets.find((target) => target.id === id)?.name ?? id;
  return {
    header: ["target", "verdict", ...columns.map(({ title }) => title)],
    rows: compared.rows.map((row) => {
      const target = targets.find(({ id }) => id === row.target);
      return {
        cells: [
          `${nameOf(row.target)}${marksOf(row, target)}`,
          verdictOf(row),
          ...columns.map(({ metric }) =>
            row.status === "measured" ? formatSpread(metric, row.metrics[metric]) : NOT_MEASURED,
          ),
        ],
        isDoubtful: row.status === "measured" && !row.isValid,
      };
    }),
    notes: notesOf(compared.rows, targets),
  };
}

const SATURATED = " †";
const ADAPTED = " ‡";

function marksOf(row: ComparedRow, target: ComparedTarget | undefined): string {
  if (row.status !== "measured") return "";
  const isOpen = target?.authentication.isWarning === true;
  const key = isOpen ? (target.checksKey ? " (key NOT enforced)" : " (checks no key)") : "";
  return `${key}${row.isSaturated ? SATURATED : ""}${row.isRateAdapted ? ADAPTED : ""}`;
}

function verdictOf(row: ComparedRow): string {
  if (row.status === "measured") return row.isValid ? "valid" : "VOID";
  if (isPending(row)) return "not run yet";
  return row.status === "n/a" ? "n/a" : "FAILED";
}

function describeStep({ rps, passed, reasons }: ComparedRow["steps"][number]): string {
  return passed ? `${formatCount(rps)} held` : `${formatCount(rps)} not (${reasons.join("; ")})`;
}

/** In the report of an unfinished run. */
function isPending({ status, repetitions }: ComparedRow): boolean {
  return status === "failed" && repetitions === 0;
}

function notesOf(rows: readonly ComparedRow[], targets: readonly ComparedTarget[]): string[] {
  const notes: string[] = [];
  if (rows.some(({ isSaturated }) => isSaturated)) {
    notes.push(
      "† did not hold the offered rate: its latencies measure the queue and the length of the window, and are ranked against nobody.",
    );
  }
  if (rows.some(({ isRateAdapted }) => isRateAdapted)) {
    notes.push(
      "‡ saturates below the cell's rate and was measured at a lower one, which is in the raw results: its row is not comparable with the others.",
    );
  }
  for (const row of rows) {
    const target = targets.find(({ id }) => id === row.target);
    const name = target?.name ?? row.target;
    if (row.reasons.length > 0) notes.push(`${name}, ${verdictOf(row)}: ${[...new Set(row.reasons)].join("; ")}`);
    if (row.steps.length > 0) notes.push(`${name}, steps: ${row.steps.map(describeStep).join(", ")}`);
    if (row.attempts > 1) {
      notes.push(
        `${name}: a repetition took up to ${row.attempts} attempts; the earlier ones were void by the instrument, whatever the target did.`,
      );
    }
    if (row.status === "measured" && target?.checksKey === true && target.authentication.isWarning) {
      notes.push(`${name}: ${target.authentication.text}`);
    }
  }
  return notes;
}
