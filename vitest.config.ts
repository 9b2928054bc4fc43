// One vitest project for the whole workspace. Packages resolve to their sources, so tests need no build.
import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { SummaryReporter } from "./scripts/summary-reporter.ts";

const packages = fileURLToPath(new URL("./packages", import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@dragoman\/([a-z-]+)$/, replacement: `${packages}/$1/src/index.ts` },
      { find: /^@dragoman\/([a-z-]+)\/([a-z-]+)$/, replacement: `${packages}/$1/src/$2/index.ts` },
      { find: /^dragoman$/, replacement: `${packages}/server/src/index.ts` },
      { find: /^dragoman\/([a-z-]+)$/, replacement: `${packages}/server/src/$1/index.ts` },
    ],
  },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "packages/*/test/**/*.test.ts",
      "tests/**/*.test.ts",
      "scripts/**/*.test.ts",
      "examples/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", "tests/newest-sdks/**"],
    // Generous, for machines whose few cores are busy: no test waits for time to pass.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", new SummaryReporter()],
  },
});
