import { describe, expect, it } from "vitest";

import { IssueList } from "./issue.ts";
import { ADAPTATION_CODES, DEFAULT_LOSSY_ALLOW, expandLossy, LOSSY_PRESETS, REASON_CODES } from "./reason-codes.ts";

const allowing = (...codes: readonly string[]): IssueList => new IssueList(new Set(codes));

describe("IssueList", () => {
  it("is no refusal while it is empty or only adapts", () => {
    const issues = allowing();
    issues.adapt("value_adapted", "/a", "");
    expect([issues.isRefused, issues.issues]).toEqual([
      false,
      [{ code: "value_adapted", path: "/a", severity: "adapt", detail: "" }],
    ]);
  });

  it("lets a loss pass that is allowed, and tells the encoder to leave it out", () => {
    const issues = allowing("seed_unsupported");
    expect(issues.allows("seed_unsupported")).toBe(true);
    expect(issues.drop("seed_unsupported", "/seed", "")).toBe(true);
    expect(issues.isRefused).toBe(false);
  });

  it("refuses for a loss that is not allowed, and goes on collecting", () => {
    const issues = allowing("seed_unsupported");
    expect(issues.drop("top_k_unsupported", "/top_k", "")).toBe(false);
    expect(issues.drop("seed_unsupported", "/seed", "")).toBe(true);
    expect(issues.isRefused).toBe(true);
    expect(issues.issues.map(({ severity }) => severity)).toEqual(["drop", "drop"]);
  });

  it("refuses for a rejection even of a code whose loss is allowed", () => {
    const issues = allowing("n_unsupported");
    issues.reject("n_unsupported", "/n", "");
    expect(issues.isRefused).toBe(true);
  });
});

describe("expandLossy", () => {
  it.each(Object.entries(LOSSY_PRESETS))("expands %s to its codes, all of them known", (name, codes) => {
    expect(expandLossy([name])).toEqual({ codes: new Set(codes), unknown: [] });
    for (const code of codes) expect(REASON_CODES).toContain(code);
  });

  it("joins presets and codes, and names what it does not know", () => {
    const { codes, unknown } = expandLossy(["@history", "seed_unsupported", "@nope", "value_adapted", "toString"]);
    expect([...codes].sort()).toEqual(["reasoning_history_foreign", "seed_unsupported"]);
    expect(unknown).toEqual(["@nope", "value_adapted", "toString"]);
  });

  it("loses hints and foreign history by default, nothing that changes an answer", () => {
    const { codes } = expandLossy(DEFAULT_LOSSY_ALLOW);
    expect(codes.has("cache_hint") && codes.has("reasoning_history_foreign")).toBe(true);
    for (const code of ["seed_unsupported", "tool_choice_unsupported", "unknown_field", "response_format_unsupported"])
      expect(codes.has(code)).toBe(false);
  });

  it("keeps every code unique, and reasons apart from adaptations", () => {
    const all = [...REASON_CODES, ...ADAPTATION_CODES];
    expect(new Set<string>(all).size).toBe(all.length);
  });
});
