/** Compiles `server` and `telemetry`: defaults filled in, durations and sizes as numbers. */
import { compileDuration, compileDurationOrOff, compileSize } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { CONFIG_DEFAULTS } from "./defaults.ts";
import type { GatewayConfig, ServerConfig } from "./gateway-config.ts";
import { pointer } from "./problem.ts";
import type { AuthThrottleSettings, ServerLimits, ServerSettings, SseSettings, TelemetrySettings } from "./snapshot.ts";

const PATH = "/server";

/** Compiles the `server` member. */
export function compileServer(context: CompileContext, config: ServerConfig): ServerSettings {
  return Object.freeze({
    host: config.host ?? CONFIG_DEFAULTS.host,
    port: config.port ?? CONFIG_DEFAULTS.port,
    maxBodyBytes: compileSize(context, pointer(PATH, "maxBody"), config.maxBody ?? CONFIG_DEFAULTS.maxBody),
    maxHeldResponseBytes: compileSize(
      context,
      pointer(PATH, "maxHeldResponseBytes"),
      config.maxHeldResponseBytes ?? CONFIG_DEFAULTS.maxHeldResponseBytes,
    ),
    debugHeaders: config.headers?.debug ?? CONFIG_DEFAULTS.debugHeaders,
    limits: compileLimits(context, config.limits ?? {}),
    sse: compileSse(context, config.sse ?? {}),
    frontEnd: config.frontEnd ?? CONFIG_DEFAULTS.frontEnd,
    trustedProxies: config.trustedProxies ?? Object.freeze([]),
    authThrottle: compileThrottle(context, config.authThrottle ?? {}),
    shutdownMs: compileDuration(context, pointer(PATH, "shutdown"), config.shutdown ?? CONFIG_DEFAULTS.shutdown),
  });
}

function compileLimits(context: CompileContext, config: NonNullable<ServerConfig["limits"]>): ServerLimits {
  const at = (member: string): string => pointer(PATH, "limits", member);
  const duration = (member: "headTimeout" | "bodyTimeout" | "idleTimeout"): number =>
    compileDuration(context, at(member), config[member] ?? CONFIG_DEFAULTS[member]);
  const size = (member: "maxHead" | "maxQueue"): number =>
    compileSize(context, at(member), config[member] ?? CONFIG_DEFAULTS[member]);
  return Object.freeze({
    maxConnections: config.maxConnections ?? CONFIG_DEFAULTS.maxConnections,
    maxHeadBytes: size("maxHead"),
    headTimeoutMs: duration("headTimeout"),
    bodyTimeoutMs: duration("bodyTimeout"),
    idleTimeoutMs: duration("idleTimeout"),
    maxQueueBytes: size("maxQueue"),
  });
}

function compileSse(context: CompileContext, config: NonNullable<ServerConfig["sse"]>): SseSettings {
  const path = pointer(PATH, "sse");
  return Object.freeze({
    keepAliveMs: compileDurationOrOff(
      context,
      pointer(path, "keepAlive"),
      config.keepAlive ?? CONFIG_DEFAULTS.keepAlive,
    ),
    maxRecordBytes: compileSize(context, pointer(path, "maxRecord"), config.maxRecord ?? CONFIG_DEFAULTS.maxRecord),
  });
}

function compileThrottle(
  context: CompileContext,
  config: NonNullable<ServerConfig["authThrottle"]>,
): AuthThrottleSettings | null {
  if (config === "off") return null;
  return Object.freeze({
    failures: config.failures ?? CONFIG_DEFAULTS.throttleFailures,
    windowMs: compileDuration(context, pointer(PATH, "authThrottle", "per"), config.per ?? CONFIG_DEFAULTS.throttlePer),
  });
}

/** Compiles the `telemetry` member. */
export function compileTelemetry(config: NonNullable<GatewayConfig["telemetry"]>): TelemetrySettings {
  return Object.freeze({
    logLevel: config.logLevel ?? CONFIG_DEFAULTS.logLevel,
    requestLog: config.requestLog ?? CONFIG_DEFAULTS.requestLog,
  });
}
