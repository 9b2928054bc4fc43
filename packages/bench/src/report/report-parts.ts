// The parts of a report that Markdown and HTML share, as plain tables and lines: targets, extra views, runs, reading notes.
import type { ComparedRun, ComparedTarget } from "./comparison.ts";
import type { InsideView, OverloadView } from "./extra-views.ts";
import { formatBytes, formatCount, formatShare, formatUs, NOT_MEASURED } from "./format-figures.ts";

/** A table of text. */
export interface PlainTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What every report says about how to read it. */
export const READING_NOTES: readonly string[] = [
  "Overhead is the gateway run's latency percentile minus the direct run's at the same percentile and rate. Latency counts from the scheduled send time, so queueing in front of a slow gateway counts.",
  "Figures are medians over the repetitions, with the lowest and highest in brackets. CPU and memory are of the whole process tree.",
  "A mock upstream answers with ready bytes: nothing here says how a gateway behaves with real providers, on real networks, or with features that no profile turns on.",
  "Paler bars in the charts of the HTML report are void, saturated or measured at a lowered rate; the overhead charts leave saturated targets out.",
  "Rows compare within a cell. Cells of different runs ran on different machines.",
];

/** Who took part, with the outcome of the two traps. */
export function targetTable(targets: readonly ComparedTarget[]): PlainTable {
  const rows = targets.map(({ name, kind, availability, version, versionNote, authentication, workers }) => {
    if (availability === "n/a") return [name, kind, "n/a", NOT_MEASURED, NOT_MEASURED];
    const stated = version ?? "unknown";
    return [
      name,
      kind,
      versionNote === undefined ? stated : `${stated}: ${versionNote}`,
      warn(authentication),
      warn(workers),
    ];
  });
  return { header: ["target", "kind", "version", "authentication", "workers"], rows };
}

function warn({ text, isWarning }: ComparedTarget["workers"]): string {
  return isWarning ? `⚠ ${text}` : text;
}

/** Why a target is n/a, how it is installed, and its own remarks. */
export function targetNotes(targets: readonly ComparedTarget[]): string[] {
  return targets.flatMap(({ name, availability, reason, installCommand, notes }) => [
    ...(availability === "n/a"
      ? [`${name} is n/a: ${reason ?? "not installed"}. Install: ${installCommand ?? "see its documentation"}`]
      : []),
    ...notes.map((note) => `${name}: ${note}`),
  ]);
}

/** The overload view. */
export function overloadTable({ rows }: OverloadView, targets: readonly ComparedTarget[]): PlainTable {
  return {
    header: [
      "target",
      "cell",
      "offered",
      "window",
      "succeeded",
      "success",
      "requests/s",
      "mean",
      "p50",
      "p99",
      "RSS peak",
    ],
    rows: rows.map((row) => [
      `${nameOf(row.target, targets)}${row.isValid ? "" : ", VOID"}`,
      row.cell,
      `${formatCount(row.offeredRps)}/s`,
      `${row.windowSeconds} s`,
      formatCount(row.succeeded),
      formatShare(row.successFraction),
      formatCount(row.achievedRps),
      ...durations(row.latencyUs.count === 0 ? undefined : row.latencyUs),
      row.rssPeakBytes === undefined ? NOT_MEASURED : formatBytes(row.rssPeakBytes),
    ]),
  };
}

/** The inside view. */
export function insideTable({ rows }: InsideView, targets: readonly ComparedTarget[]): PlainTable {
  return {
    header: ["target", "server-timing", "requests", "mean", "p50", "p99"],
    rows: rows.map(({ target, metric, requests, durationUs }) => [
      nameOf(target, targets),
      metric ?? "n/a: sends no server-timing",
      formatCount(requests),
      ...durations(durationUs),
    ]),
  };
}

function durations(
  latency: { readonly mean: number; readonly p50: number; readonly p99: number } | undefined,
): string[] {
  return latency === undefined
    ? [NOT_MEASURED, NOT_MEASURED, NOT_MEASURED]
    : [formatUs(latency.mean), formatUs(latency.p50), formatUs(latency.p99)];
}

/** Where and how a run was made. */
export function runLines({
  benchVersion,
  startedAt,
  endedAt,
  topology,
  hosts,
  instrumentScheduling,
  selfTest,
  command,
}: ComparedRun): string[] {
  const machines = hosts.map((host) => {
    const steal = host.stealFraction === undefined ? "unknown" : formatShare(host.stealFraction);
    return `${host.role} on ${host.hostname}: ${host.cpuModel}, ${host.cpus} CPUs, ${formatBytes(host.memoryBytes)}, kernel ${host.kernel}, Node ${host.node}, open files ${host.openFilesLimit ?? "unknown"}, load ${host.loadAverage.toFixed(1)}, steal ${steal}`;
  });
  const checks = selfTest?.checks.map(
    ({ name, passed, detail }) => `self-test ${name} ${passed ? "passed" : "FAILED"}: ${detail}`,
  );
  return [
    `bench ${benchVersion}, ${startedAt} to ${endedAt ?? "(unfinished)"}, topology ${topology.id}${topology.isReference ? " (reference)" : ""}: ${topology.description}`,
    command,
    `generator and mock under ${instrumentScheduling} scheduling, targets under normal scheduling`,
    ...machines,
    ...(checks ?? ["no self-test"]),
  ];
}

function nameOf(id: string, targets: readonly ComparedTarget[]): string {
  return targets.find((target) => target.id === id)?.name ?? id;
}
