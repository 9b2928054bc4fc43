/** What the parts of one request encoding share: the request, the deployment, what was found, and how members are named to clients. */
import {
  IssueList,
  type EncodeTarget,
  type Extension,
  type NeutralRequest,
  type ReasonCode,
  type SegmentWriter,
} from "@dragoman/core";
import { isSlice } from "@dragoman/core";

import { ANTHROPIC, INNER_MEMBERS } from "./members.ts";

/** Codes of members without which a request would be another one; no configuration may drop them. */
const NEVER_DROPPED: ReadonlySet<string> = new Set<ReasonCode>([
  "beta_unsupported",
  "moderation_unsupported",
  "stateful_unsupported",
  "audio_output_unsupported",
  "cached_content_unsupported",
]);

/** Whether a path leads into one of the objects inside a block. A member's own name may hold dots. */
const isInner = (path: string): boolean => Object.hasOwn(INNER_MEMBERS, path.slice(0, Math.max(0, path.indexOf("."))));

function writeMember(writer: SegmentWriter, name: string, raw: Extension["raw"]): void {
  writer.glue(`,${JSON.stringify(name)}:`);
  if (isSlice(raw)) writer.raw(raw);
  else writer.glue(JSON.stringify(raw.value));
}

export class Encoding {
  readonly request: NeutralRequest;
  readonly target: EncodeTarget;
  readonly issues: IssueList;

  constructor(request: NeutralRequest, target: EncodeTarget) {
    this.request = request;
    this.target = target;
    this.issues = new IssueList(target.lossyAllow);
  }

  /** Where a member of the request stands in the client's body, by its neutral name. */
  originOf(member: string): string {
    return this.request.origins?.[member] ?? `/${member}`;
  }

  /** Reports every extension of another dialect and returns those of this one. */
  ownExtensions(extensions: readonly Extension[] | undefined): readonly Extension[] {
    if (extensions === undefined || extensions.length === 0) return [];
    const own: Extension[] = [];
    for (const extension of extensions) {
      if (extension.dialect === ANTHROPIC) own.push(extension);
      else this.#reportForeign(extension);
    }
    return own;
  }

  /** Writes own extensions as further members of the object that is open; those of inner objects are written there. */
  writeExtensions(writer: SegmentWriter, extensions: readonly Extension[] | undefined): void {
    for (const { path, raw } of this.ownExtensions(extensions)) {
      if (!isInner(path)) writeMember(writer, path, raw);
    }
  }

  /** Writes own extensions of an inner object that is open. */
  writeInner(writer: SegmentWriter, extensions: readonly Extension[] | undefined, parent: string): void {
    if (extensions === undefined) return;
    for (const { dialect, path, raw } of extensions) {
      if (dialect !== ANTHROPIC || !path.startsWith(`${parent}.`)) continue;
      writeMember(writer, path.slice(parent.length + 1), raw);
    }
  }

  #reportForeign({ code, at, path }: Extension): void {
    // A code in an extension is one of a field table's row.
    const reason = (code ?? "unknown_field") as ReasonCode;
    const detail = `The member ${path} has no place in this dialect.`;
    if (NEVER_DROPPED.has(reason)) this.issues.reject(reason, at, detail);
    else this.issues.drop(reason, at, detail);
  }
}
