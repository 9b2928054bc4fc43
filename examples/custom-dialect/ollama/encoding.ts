/** One request on its way out: what the encoders of this folder share. Issues never stop the writing, so a client learns all at once. */
import { IssueList, isSlice, SegmentWriter } from "@dragoman/core";
import type { EncodeTarget, Extension, NeutralRequest, Num, Raw, ReasonCode } from "@dragoman/core";

import { asOllamaProfile } from "./profiles.ts";
import type { OllamaProfile } from "./profiles.ts";

/** State of one encoding. */
export class Encoding {
  readonly request: NeutralRequest;
  readonly target: EncodeTarget;
  readonly profile: OllamaProfile;
  readonly issues: IssueList;
  readonly writer: SegmentWriter;

  constructor(request: NeutralRequest, target: EncodeTarget) {
    this.request = request;
    this.target = target;
    this.profile = asOllamaProfile(target.profile);
    this.issues = new IssueList(target.lossyAllow);
    this.writer = new SegmentWriter();
  }

  /** Where a member of the neutral request stood in the client's body. */
  placeOf(member: string): string {
    return this.request.origins?.[member] ?? `/${member}`;
  }

  /** Writes a value: the client's bytes as they are, or the JSON of a decoded one. */
  writeRaw(raw: Raw | Num): void {
    if (typeof raw === "number") this.writer.number(raw);
    else if (isSlice(raw)) this.writer.raw(raw);
    else this.writer.glue(JSON.stringify(raw.value) ?? "null");
  }

  /** Members that only another dialect has: each is a loss with a code. */
  dropExtensions(extensions: readonly Extension[] | undefined): void {
    for (const { code, at } of extensions ?? [])
      // A decoder sets codes of the table only.
      this.issues.drop((code ?? "unknown_field") as ReasonCode, at, "Ollama has no such member.");
  }
}
