/** Messages and their parts: the ordered content units that every dialect shares. Immutable after decoding. */
import type { Raw, Text } from "./text.ts";

/** A dialect's open, registered id, e.g. the id under which a dialect room registers itself. */
export type DialectId = string;

/** Something only one dialect has: kept with its source path, re-emitted by that dialect, an issue for every other. */
export interface Extension {
  readonly dialect: DialectId;
  /** Member path inside the object that carries it, e.g. `web_search_options`. */
  readonly path: string;
  readonly raw: Raw;
  /** Set when it came as a header, not as a member. */
  readonly header?: boolean;
  /** Known members carry the code of their table row; an unknown member has none and counts as `unknown_field`. */
  readonly code?: string;
  /** JSON Pointer in the client's body. */
  readonly at: string;
}

/** Where a media part's bytes come from. */
export type Media =
  | { readonly from: "base64"; readonly mime?: Text; readonly data: Text }
  | { readonly from: "url"; readonly url: Text; readonly mime?: Text }
  | { readonly from: "file-ref"; readonly dialect: DialectId; readonly id: Text; readonly mime?: Text }
  | { readonly from: "text"; readonly text: Text };

/**
 * A provider's opaque proof over its own reasoning, to be replayed byte-exact to that provider. `origin` is an open id that a
 * provider dialect registers (§ envelope of the reasoning carrier).
 */
export interface Signature {
  readonly origin: string;
  readonly model?: string;
  readonly data: Text;
}

/** Tool-call arguments: JSON text. `encoded` tells whether the bytes sit inside a JSON string or are a plain JSON value. */
export interface ArgumentText {
  readonly text: Text | Raw;
  readonly encoded: boolean;
}

/** A mark after which a provider may cache the prefix. */
export interface CacheBreakpoint {
  readonly ttlSeconds?: number;
}

/** What every part has. */
export interface PartBase {
  readonly cacheBreakpoint?: CacheBreakpoint;
  readonly extensions?: readonly Extension[];
  /** JSON Pointer in the body that this part was read from. */
  readonly at: string;
}

/** Prose. */
export interface TextPart extends PartBase {
  readonly type: "text";
  readonly text: Text;
  readonly citations?: Raw;
  readonly annotations?: Raw;
}
/** An image. */
export interface ImagePart extends PartBase {
  readonly type: "image";
  readonly media: Media;
  readonly detail?: "auto" | "low" | "high" | "original" | "ultra";
}
/** Recorded or generated sound. */
export interface AudioPart extends PartBase {
  readonly type: "audio";
  readonly media: Media;
  readonly format?: string;
}
/** A video, or the `clip` of one. */
export interface VideoPart extends PartBase {
  readonly type: "video";
  readonly media: Media;
  readonly clip?: Raw;
}
/** A document for the model to read. */
export interface FilePart extends PartBase {
  readonly type: "file";
  readonly media: Media;
  readonly filename?: Text;
  readonly title?: Text;
  readonly context?: Text;
  readonly citations?: boolean;
  readonly detail?: string;
}
/** A passage that the client found and that may be cited. */
export interface SearchResultPart extends PartBase {
  readonly type: "search-result";
  readonly source: Text;
  readonly title: Text;
  readonly content: readonly Part[];
  readonly citations?: boolean;
}
/** A call that the model asks the client to make. */
export interface ToolCallPart extends PartBase {
  readonly type: "tool-call";
  /** Always present after a request was decoded; synthesised where the dialect has none. */
  readonly id: Text;
  readonly name: Text;
  readonly namespace?: Text;
  readonly kind: "function" | "custom";
  readonly arguments: ArgumentText;
  readonly signature?: Signature;
  readonly itemId?: Text;
}
/** What came of a tool call. */
export interface ToolResultPart extends PartBase {
  readonly type: "tool-result";
  readonly callId: Text;
  readonly name?: Text;
  readonly content: readonly Part[];
  /** A structured result object, where the dialect has one. */
  readonly json?: Raw;
  readonly isError?: boolean;
  readonly kind?: "function" | "custom";
}
/** The model's reasoning: a summary of it, its own words, or only a proof that there was some. */
export interface ReasoningPart extends PartBase {
  readonly type: "reasoning";
  readonly form: "summary" | "raw" | "opaque";
  readonly texts: readonly Text[];
  readonly redacted?: Text;
  readonly signature?: Signature;
  readonly itemId?: Text;
}
/** The model's words for not answering. */
export interface RefusalPart extends PartBase {
  readonly type: "refusal";
  readonly text: Text;
}
/** A call or a result that the provider executes itself. */
export interface ServerToolPart extends PartBase {
  readonly type: "server-tool";
  readonly dialect: DialectId;
  readonly raw: Raw;
}
/** Any block type this version does not know; only its own dialect can carry it. */
export interface OpaquePart extends PartBase {
  readonly type: "opaque";
  readonly dialect: DialectId;
  readonly blockType: string;
  readonly raw: Raw;
}

/** One content unit of a message. */
export type Part =
  | TextPart
  | ImagePart
  | AudioPart
  | VideoPart
  | FilePart
  | SearchResultPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | ServerToolPart
  | OpaquePart;

/** One message; `instruction` is the slot that dialects call system or developer. */
export interface Message {
  readonly role: "instruction" | "user" | "assistant";
  /** For role `instruction`; absent is the platform's default. */
  readonly authority?: "system" | "developer";
  /** For role `instruction`: `leading` stands before any user or assistant content. */
  readonly position?: "leading" | "mid";
  readonly name?: Text;
  readonly phase?: "commentary" | "final_answer";
  readonly parts: readonly Part[];
  readonly extensions?: readonly Extension[];
  /** JSON Pointer in the client's body. */
  readonly at: string;
}
