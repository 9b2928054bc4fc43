// The demo that needs no key and no network: `dragoman demo`.
export { runDemo } from "./run-demo.ts";
export type { DemoOptions } from "./run-demo.ts";
export type { TextOutput } from "./text-layout.ts";
