// The scripted upstream: a provider for tests, demos and benches that answers what it is told, and misbehaves on request.
export { createScriptedUpstream } from "./server.ts";
export type { ScriptedUpstream, ScriptedUpstreamOptions } from "./server.ts";
export { scriptAnswer, SCRIPTED_ANSWERS } from "./behaviours.ts";
export type { AnswerSketch, Behaviour } from "./behaviours.ts";
export type { ScriptedAnswer, ScriptedStop, ScriptedToolCall, ScriptedUsage } from "./answer.ts";
export type { CallEnd, UpstreamCallLog } from "./call-log.ts";
export type { ScriptedDialect, ScriptedError } from "./error-envelopes.ts";
export { SCRIPTED_FAULTS } from "./fault-names.ts";
export type { Fault, GarbageKind, Hangup, ScriptedBytes } from "./faults.ts";
export { ODD_RESPONSES } from "./odd-responses.ts";
export type { OddResponse } from "./odd-responses.ts";
export type { ReceivedRequest } from "./received-request.ts";
export type { Script, ScriptFunction, ScriptRule } from "./script.ts";
