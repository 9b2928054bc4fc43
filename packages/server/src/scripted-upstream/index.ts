// The scripted upstream: a provider for tests, demos and benches that answers what it is told, and misbehaves on request.
export { createScriptedUpstream } from "./server.ts";
export type { ScriptedUpstream } from "./server.ts";
export { scriptAnswer } from "./behaviours.ts";
export type { Behaviour } from "./behaviours.ts";
export type { ScriptedAnswer } from "./answer.ts";
export type { UpstreamCallLog } from "./call-log.ts";
export type { Fault } from "./faults.ts";
export { ODD_RESPONSES } from "./odd-responses.ts";
