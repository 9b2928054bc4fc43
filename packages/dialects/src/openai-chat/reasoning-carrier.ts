// How reasoning that a provider signed travels through a client of this dialect: `extra_content.gateway.reasoning` on the assistant
// message holds one entry per signed part, to be sent back as it is.
import { encodeString, isEmptyText, textToString } from "@dragoman/core";
import type { ReasoningPart, Signature, Text } from "@dragoman/core";

import { encodeEnvelope } from "../shared/signature-envelope.ts";

/** One signed reasoning part, ready to be written. */
export interface CarriedReasoning {
  readonly signature: Signature;
  /** Text of the part, or the empty string. */
  readonly text: string;
}

/** The signature of a reasoning part; one that was redacted without a signature is carried as origin `ar`. */
export function signatureOf(part: Pick<ReasoningPart, "signature" | "redacted">): Signature | null {
  if (part.signature !== undefined) return part.signature;
  return part.redacted === undefined || isEmptyText(part.redacted) ? null : { origin: "ar", data: part.redacted };
}

/** The entries as JSON. Text that the client does not see beside them goes into the envelopes of origin `a`, which cover it. */
export function carriedReasoningJson(
  entries: readonly CarriedReasoning[],
  upstreamModel: string,
  isTextShown: boolean,
): string {
  const items = entries.map(({ signature, text }) => {
    const envelope = {
      origin: signature.origin,
      model: signature.model ?? upstreamModel,
      data: textToString(signature.data),
    };
    const isTextHidden = !isTextShown && signature.origin === "a" && text !== "";
    const sig = encodeString(encodeEnvelope(isTextHidden ? { ...envelope, text } : envelope));
    return isTextShown && text !== "" ? `{"text":${encodeString(text)},"sig":${sig}}` : `{"sig":${sig}}`;
  });
  return `{"gateway":{"reasoning":[${items.join(",")}]}}`;
}

/** Joins texts of one reasoning part, or of several, as clients see them. */
export function joinReasoning(texts: readonly Text[]): string {
  return texts.map((text) => textToString(text)).join("\n\n");
}
