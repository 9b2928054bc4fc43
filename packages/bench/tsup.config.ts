import { defineConfig } from "tsup";

export default defineConfig({
  // The process and worker entries are files of their own: they are started by path, not imported.
  entry: [
    "src/index.ts",
    "src/cli.ts",
    "src/clock/ticker-entry.ts",
    "src/generator/worker-entry.ts",
    "src/generator/process-entry.ts",
    "src/mock/process-entry.ts",
    "src/relay/process-entry.ts",
  ],
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  sourcemap: true,
  splitting: true,
  clean: true,
  silent: true,
});
