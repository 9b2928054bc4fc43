import { defineConfig } from "tsup";

export default defineConfig({
  entry: [
    "src/index.ts",
    "src/journal/index.ts",
    "src/sqlite/index.ts",
    "src/postgres/index.ts",
    "src/valkey/index.ts",
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
