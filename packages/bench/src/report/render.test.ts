import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { renderBarChart } from "./bar-chart.ts";
import { buildComparison } from "./build-comparison.ts";
import { columnsOf, tabulateCell } from "./cell-table.ts";
import { renderCurveChart } from "./curve-chart.ts";
import { formatBytes, formatShare, formatSpread, formatUs } from "./format-figures.ts";
import { renderHtml } from "./render-html.ts";
import { renderMarkdown } from "./render-markdown.ts";
import { scaleFor } from "./svg-scale.ts";
import { loadedRun, plannedCell, repetition, row, runRecord, targetRecord } from "./test-comparison.ts";

const OPEN = { goodKeyStatus: 200, noKeyStatus: 200, unknownKeyStatus: 200, isEnforced: false };

const comparison = buildComparison([
  loadedRun(
    runRecord({
      cells: [plannedCell("H1"), plannedCell("C16")],
      targets: [
        targetRecord("one"),
        targetRecord("<two>|", { checksKey: false, notes: ["a & b"] }),
        targetRecord("three", {
          availability: "n/a",
          reason: "not installed",
          installCommand: "npm i three",
          version: undefined,
        }),
      ],
    }),
    [
      row("one", "H1"),
      row("<two>|", "H1", { isValid: false, isSaturated: true, reasons: ["repetition 1: late", "repetition 1: late"] }),
      row("three", "H1", { status: "n/a", isValid: false, reasons: ["not installed"], metrics: {} }),
      row("one", "C16"),
    ],
    [repetition("one", "H1"), repetition("<two>|", "H1", { authentication: OPEN })],
  ),
]);

describe("figures", () => {
  it.each([
    [formatUs(0), "0 µs"],
    [formatUs(-66), "-66 µs"],
    [formatUs(530), "530 µs"],
    [formatUs(66.4), "66.4 µs"],
    [formatUs(19_700), "19.7 ms"],
    [formatUs(12_100_000), "12.1 s"],
    [formatBytes(1389 * 2 ** 20), "1,389 MiB"],
    [formatShare(0), "0 %"],
    [formatShare(0.0001), "0.010 %"],
    [formatShare(0.64), "64 %"],
    [formatSpread("overheadP50Us", undefined), "–"],
    [formatSpread("overheadP50Us", { median: 530, min: 510, max: 1600 }), "530 µs [510 µs to 1.60 ms]"],
  ])("are read as %s", (formatted, expected) => {
    expect(formatted).toBe(expected);
  });
});

describe("the Markdown report", () => {
  const markdown = renderMarkdown(comparison);

  it("opens with the verdict and its reasons", () => {
    expect(markdown.indexOf("**Not publishable:**")).toBeLessThan(markdown.indexOf("## Targets"));
  });

  it("labels a row whose target answers without a key, did not hold the rate, and is void", () => {
    expect(markdown).toContain("| <two>\\| (P-min) (checks no key) † |");
    expect(markdown).toContain("- <two>\\| (P-min), VOID: repetition 1: late\n");
    expect(markdown).toContain("† did not hold the offered rate");
  });

  it("shows a target that is not installed in its cell, without figures, and how to install it", () => {
    expect(markdown).toContain("| three (P-min) | n/a | – | – | – | – | – | – | – | – | – |");
    expect(markdown).toContain("three (P-min) is n/a: not installed. Install: npm i three");
  });

  it("gives the idle cell no latency columns", () => {
    expect(markdown).toContain("| target | verdict | share of its cores | RSS idle | RSS peak |");
  });

  it("shows the latency of a refusal, which has no direct run to subtract", () => {
    const cell = { ...comparison.cells[0]!, cell: plannedCell("C21.401") };
    const titles = columnsOf(cell).map(({ title }) => title);
    expect(titles).toContain("latency p99");
    expect(titles.join(" ")).not.toContain("overhead");
  });

  it("lists the steps of a ladder with the reason why one did not hold", () => {
    const step = { achievedRps: 0, errorFraction: 0, overheadUs: undefined, cpuUsPerRequest: undefined };
    const steps = [
      { ...step, rps: 25, passed: true, reasons: [] },
      { ...step, rps: 50, passed: false, reasons: ["p99 overhead 9 ms"] },
    ];
    const rows = [{ ...row("one", "C11"), steps, attempts: 1 }];
    const { notes } = tabulateCell({ cell: plannedCell("C11"), runId: "run-1", rows, curves: [] }, comparison.targets);
    expect(notes).toContain("one (P-min), steps: 25 held, 50 not (p99 overhead 9 ms)");
  });

  it("says of both extra views what they leave out", () => {
    expect(markdown.match(/What this view leaves out: /g)).toHaveLength(2);
  });

  it("has as many columns in each row of a table as in its header", () => {
    for (const block of markdown.split("\n\n").filter((part) => part.startsWith("|"))) {
      const columns = block.split("\n").map((line) => line.replaceAll("\\|", "").split("|").length);
      expect(new Set(columns).size).toBe(1);
    }
  });
});

describe("the HTML report", () => {
  const html = renderHtml(comparison);

  it("stands alone: no script, no reference to another file", () => {
    expect(html).not.toMatch(/<script|<link|src=|href=|url\(|@import/);
  });

  it("escapes what targets are called", () => {
    expect(html).toContain("&lt;two&gt;");
    expect(html).not.toContain("<two>");
    expect(html).toContain("a &amp; b");
  });

  it("names a unit on every chart", () => {
    const charts = html.match(/<svg.*?<\/svg>/gs) ?? [];
    expect(charts.length).toBeGreaterThan(3);
    for (const chart of charts) expect(chart).toMatch(/class="axis"[^>]*>[^<]*(µs|ms|s|MiB|requests\/s)/);
  });

  it("keeps the latency of a saturated target out of the overhead chart", () => {
    const overhead = /<svg[^>]*aria-label="H1: Overhead.*?<\/svg>/s.exec(html)?.[0] ?? "";
    expect(overhead).toContain(">one<");
    expect(overhead).not.toContain("&lt;two&gt;");
  });
});

describe("charts", () => {
  it("draw nothing where nothing was measured", () => {
    const group = { label: "a", values: [undefined], isDoubtful: false };
    expect(renderBarChart({ title: "t", quantity: "bytes", series: ["s"], groups: [group], format: String })).toBe("");
    expect(renderCurveChart("t", [])).toBe("");
  });

  it("keep every bar within the picture, whatever the values", () => {
    const value = fc.option(fc.double({ min: -1e6, max: 1e9, noNaN: true }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.array(fc.array(value, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 9 }),
        (values) => {
          const groups = values.map((own, index) => ({ label: `target ${index}`, values: own, isDoubtful: false }));
          const svg = renderBarChart({
            title: "t",
            quantity: "duration-us",
            series: ["p50", "p99"],
            groups,
            format: formatUs,
          });
          expect(svg).not.toMatch(/NaN|Infinity/);
          for (const [, x, width] of svg.matchAll(
            /<rect class="series-\d" x="([\d.]+)" y="\d+" width="([\d.]+)" height="14"/g,
          )) {
            expect(Number(x) + Number(width)).toBeLessThanOrEqual(560 - 84);
          }
        },
      ),
    );
  });

  it.each([
    { values: [10, 90], isLogarithmic: false, ticks: [0, 20, 40, 60, 80, 100] },
    { values: [10, 9000], isLogarithmic: true, ticks: [10, 100, 1000, 10_000] },
    { values: [5e-324], isLogarithmic: false, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
    { values: [], isLogarithmic: false, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
  ])("scale $values", ({ values, isLogarithmic, ticks }) => {
    const scale = scaleFor("rate", values);
    expect(scale.isLogarithmic).toBe(isLogarithmic);
    expect(scale.ticks.map((tick) => Number(tick.toPrecision(6)))).toEqual(ticks);
  });

  it.each([
    [[10, 999], "µs"],
    [[100, 1000], "ms"],
    [[900_000, 1_000_000], "s"],
    [[75, 2_000_000], "ms"],
  ])("put durations of %j µs on an axis in %s", (values, name) => {
    expect(scaleFor("duration-us", values).unit.name).toBe(name);
  });

  it("ticks memory in round MiB", () => {
    expect(scaleFor("bytes", [374 * 2 ** 20]).ticks.map((tick) => tick / 2 ** 20)).toEqual([0, 100, 200, 300, 400]);
  });
});
