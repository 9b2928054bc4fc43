/** What the parts of one compilation share: the registry, the secrets, the list of problems, and the readers that use them. */
import type { DialectRegistry } from "../dialect/index.ts";
import type { ConfigFolder } from "./config-folder.ts";
import { readDurationMs } from "./duration.ts";
import type { ProblemList } from "./problem.ts";
import { readSecretReference } from "./secret-reference.ts";
import type { SecretResolver } from "./secret-reference.ts";
import { readSizeBytes } from "./size.ts";

/** One compilation. */
export interface CompileContext {
  readonly registry: DialectRegistry;
  /** Null where no secret can be looked up. */
  readonly resolveSecret: SecretResolver | null;
  /** Null where no file can be read. */
  readonly folder: ConfigFolder | null;
  readonly list: ProblemList;
}

/** Milliseconds of a duration; a problem and 1 where it is too long. The schema has checked its spelling. */
export function compileDuration(context: CompileContext, path: string, text: string): number {
  const milliseconds = readDurationMs(text);
  if (milliseconds === null) context.list.add(path, "must be a duration of at most 24 days");
  return milliseconds ?? 1;
}

/** Milliseconds of a duration, null for `off`. */
export function compileDurationOrOff(context: CompileContext, path: string, text: string): number | null {
  return text === "off" ? null : compileDuration(context, path, text);
}

/** Bytes of a size; a problem and 1 where it is too large. The schema has checked its spelling. */
export function compileSize(context: CompileContext, path: string, size: string | number): number {
  const bytes = readSizeBytes(size);
  if (bytes === null) context.list.add(path, "must be a size of at most 1GiB");
  return bytes ?? 1;
}

/** A secret in its final form; null where there is none, either by a problem or because this compilation does without. */
export function compileSecret(context: CompileContext, path: string, text: string): string | null {
  const reference = readSecretReference(text);
  if (reference === null) return text;
  if (reference.name === "") {
    context.list.add(path, `must name ${reference.scheme === "env" ? "a variable after env:" : "a file after file:"}`);
    return null;
  }
  if (context.resolveSecret === null) {
    context.list.add(path, `${reference.scheme}: references cannot be resolved here; give the secret itself`);
    return null;
  }
  const resolution = context.resolveSecret(reference);
  if (resolution.ok) return resolution.secret;
  context.list.add(path, resolution.message);
  return null;
}
