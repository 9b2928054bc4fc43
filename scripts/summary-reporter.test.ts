import type { SerializedError, TestModule } from "vitest/node";
import { afterEach, describe, expect, it, vi } from "vitest";

import { SummaryReporter } from "./summary-reporter.ts";

type State = "passed" | "failed" | "skipped" | "pending";

function moduleOf(states: readonly State[], state: State): TestModule {
  const tests = states.map((each) => ({ result: () => ({ state: each }) }));
  return { state: () => state, children: { allTests: () => tests } } as unknown as TestModule;
}

function summarize(modules: readonly TestModule[], errors: readonly SerializedError[]): string {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  new SummaryReporter().onTestRunEnd(modules, errors);
  return written.join("");
}

afterEach(() => {
  vi.restoreAllMocks();
});

const ERROR = { message: "unhandled" } as SerializedError;

describe("SummaryReporter", () => {
  it.each([
    {
      name: "sums the tests of all modules",
      modules: [moduleOf(["passed", "failed"], "failed"), moduleOf(["passed"], "passed")],
      errors: [],
      expected: "\n2 passed, 1 failed\n",
    },
    {
      name: "names skipped and never-run tests only when there are some",
      modules: [moduleOf(["passed", "skipped", "pending"], "passed")],
      errors: [],
      expected: "\n1 passed, 0 failed, 2 skipped\n",
    },
    {
      name: "counts a module that failed before its tests ran as one failure",
      modules: [moduleOf([], "failed"), moduleOf(["pending"], "failed")],
      errors: [],
      expected: "\n0 passed, 2 failed, 1 skipped\n",
    },
    {
      name: "counts errors outside tests as failures",
      modules: [moduleOf(["passed"], "passed")],
      errors: [ERROR, ERROR],
      expected: "\n1 passed, 2 failed\n",
    },
    {
      name: "reports zero tests as zero passed",
      modules: [],
      errors: [],
      expected: "\n0 passed, 0 failed\n",
    },
  ])("$name", ({ modules, errors, expected }) => {
    expect(summarize(modules, errors)).toBe(expected);
  });
});
