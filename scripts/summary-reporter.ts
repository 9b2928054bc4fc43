// The vitest reporter whose one plain closing line, `N passed, N failed`, sums up the run for people and CI alike.
// Modules that failed before any test ran and errors outside tests count as failures, so a broken run never reads as clean.
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Prints `N passed, N failed` (`, N skipped` when some were) as the last line of a run. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      let ownFailures = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state] += 1;
        if (state === "failed") ownFailures += 1;
      }
      if (module.state() === "failed" && ownFailures === 0) count.failed += 1;
    }
    const skipped = count.skipped + count.pending;
    const tail = skipped > 0 ? `, ${skipped} skipped` : "";
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${tail}\n`);
  }
}
