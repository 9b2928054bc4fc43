/** The seam between an attempt and the ways an upstream's answer is read: forwarded or translated, whole or streamed, or an error. */
import type { ClientDialect, DecodeContext, AnswerContext, ProviderDialect, RequestHead } from "../dialect/index.ts";
import type { NeutralError, Usage } from "../ir/index.ts";
import type { ScannerPool } from "../json/index.ts";
import type { EventTaps } from "./event-taps.ts";
import type { EngineLimits } from "./limits.ts";

/** Reads one answer's body. Calls are synchronous; after `fail`, `whole` or `complete` on the outlet nothing more comes. */
export interface AnswerReader {
  /** A chunk of the body; its memory is reused after the call. */
  data(chunk: Uint8Array): void;
  /** The body ended cleanly as HTTP sees it. */
  end(): void;
  /** Everything but a late usage record has come. */
  readonly isStopped: boolean;
}

/** What a reader does with what it reads. Implemented by the attempt. */
export interface AnswerOutlet {
  /** Bytes of the client's stream, the outlet's own from now on; held until `commit`. */
  write(bytes: Uint8Array): void;
  /** The first content was written: from here on this answer is the answer. */
  commit(): void;
  /** A whole JSON answer for the client. */
  whole(body: Uint8Array): void;
  /** A streamed answer ended as it should. */
  complete(): void;
  /** The answer is of no use, or broke. `forwarded` = the client has already been told in its own words. */
  fail(error: NeutralError, forwarded: boolean): void;
  readonly isCommitted: boolean;
  usage: Usage | null;
  stopWord: string | null;
  hasContent: boolean;
  /** Estimate of the output tokens that a stream has brought; null where the answer is no stream. */
  contentTokens: number | null;
}

/** Everything a reader is made from. */
export interface ReaderOptions {
  readonly outlet: AnswerOutlet;
  readonly client: ClientDialect;
  readonly provider: ProviderDialect;
  readonly head: RequestHead;
  readonly decodeContext: DecodeContext;
  readonly answerContext: AnswerContext;
  readonly limits: EngineLimits;
  readonly scanners: ScannerPool;
  /** The event hooks of this answer, or null. */
  readonly taps: EventTaps | null;
  /** Credentials of the provider: what it says about an error may hold them. */
  readonly secrets: readonly (string | null)[];
}
