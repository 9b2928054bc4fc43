// Two vitest projects: the whole workspace, and once more the whole-server tests whose outcome could depend on the HTTP front end, over
// the one that is not the default. Packages resolve to their sources, so tests need no build.
import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { SummaryReporter } from "./scripts/summary-reporter.ts";

const packages = fileURLToPath(new URL("./packages", import.meta.url));

/** What speaks to a standalone server over sockets. */
const SERVER_TESTS = [
  "robustness/*",
  "sdk/*",
  "proofs/{backpressure,byte-ownership,disconnect}",
  "{front-end-choice,shutdown}",
];

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
    // Generous, for machines whose few cores are busy: no test waits for time to pass.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", new SummaryReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: "all",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/*/test/**/*.test.ts",
            "tests/**/*.test.ts",
            "scripts/**/*.test.ts",
            "examples/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/dist/**", "tests/newest-sdks/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "front end node",
          provide: { frontEnd: "node" },
          include: SERVER_TESTS.map((path) => `packages/server/test/${path}.test.ts`),
        },
      },
    ],
  },
});
