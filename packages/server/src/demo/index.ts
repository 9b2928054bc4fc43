// The demo that needs no key and no network: `dragoman demo`.
export { runDemo } from "./run-demo.ts";
