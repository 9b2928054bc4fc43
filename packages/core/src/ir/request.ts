/** A generate, count or embed request, neutral between dialects. Built only for translation, immutable, shared by all candidates. */
import type { CacheBreakpoint, DialectId, Extension, Message } from "./part.ts";
import type { Num, Raw, Text } from "./text.ts";

/** What a request asks for. */
export type Operation = "generate" | "count-tokens" | "embed";
/** How hard the model should think, from least to most. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** A tool of the client whose arguments are JSON. */
export interface FunctionTool {
  readonly kind: "function";
  readonly name: Text;
  readonly namespace?: Text;
  readonly description?: Text;
  readonly schema?: Raw;
  readonly strict?: boolean;
  readonly cacheBreakpoint?: CacheBreakpoint;
  readonly extensions: readonly Extension[];
  readonly at: string;
}
/** A tool of the client that takes free text, or text of a grammar. */
export interface CustomTool {
  readonly kind: "custom";
  readonly name: Text;
  readonly description?: Text;
  readonly format?: Raw;
  readonly extensions: readonly Extension[];
  readonly at: string;
}
/** A tool that one provider hosts, or whose schema its models were trained on (`clientExecuted`). */
export interface ServerTool {
  readonly kind: "server";
  readonly dialect: DialectId;
  readonly toolType: string;
  readonly name?: Text;
  /** The client runs it, but its schema is the model's own: it cannot be removed. */
  readonly clientExecuted: boolean;
  readonly raw: Raw;
  readonly at: string;
}
/** A tool that the model may call. */
export type Tool = FunctionTool | CustomTool | ServerTool;

/** Whether the model may, must or must not call tools, and which. */
export type ToolChoice =
  | { readonly mode: "auto" | "none" | "required" }
  | { readonly mode: "tool"; readonly name: Text; readonly kind: "function" | "custom" }
  | { readonly mode: "allowed"; readonly required: boolean; readonly names: readonly Text[] }
  | { readonly mode: "server"; readonly dialect: DialectId; readonly raw: Raw };

/** The form that the answer must have. */
export type OutputFormat =
  | { readonly kind: "text" }
  | { readonly kind: "json-object" }
  | {
      readonly kind: "json-schema";
      readonly name?: Text;
      readonly description?: Text;
      readonly schema?: Raw;
      readonly strict?: boolean;
      readonly schemaDialect: "json-schema" | "openapi";
    }
  | { readonly kind: "enum"; readonly schema: Raw };

/** How much the model may think, and what is shown of it. */
export interface Reasoning {
  readonly mode?: "off" | "adaptive" | "budget" | "between-tools";
  readonly effort?: Effort;
  /** −1 = dynamic. */
  readonly budgetTokens?: Num;
  readonly show?: "none" | "summary";
  readonly summaryStyle?: "auto" | "concise" | "detailed";
}

/** How tokens are drawn; what is absent is left to the provider. */
export interface Sampling {
  readonly temperature?: Num;
  readonly topP?: Num;
  readonly topK?: Num;
  readonly presencePenalty?: Num;
  readonly frequencyPenalty?: Num;
  readonly seed?: Num;
  readonly logitBias?: Raw;
}

/** The class of service that is asked for, as providers sell it. */
export type ServiceTier = "auto" | "default" | "flex" | "priority" | "fast" | "scale" | "ultrafast";

/** A client's request. Members that the client did not send, or sent as a neutral value, are absent. */
export interface NeutralRequest {
  readonly source: DialectId;
  readonly operation: Operation;
  readonly model: Text;
  readonly stream: boolean;
  /** Instructions included; leading ones come first. */
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelTools?: boolean;
  readonly maxOutputTokens?: Num;
  readonly n?: Num;
  readonly stop?: readonly Text[];
  readonly sampling: Sampling;
  /** Presence = wanted. */
  readonly logprobs?: { readonly top: number };
  readonly output: {
    readonly format?: OutputFormat;
    readonly verbosity?: "low" | "medium" | "high";
    readonly modalities?: readonly ("text" | "audio" | "image")[];
    readonly audio?: Raw;
  };
  readonly reasoning?: Reasoning;
  readonly cache: {
    readonly auto?: CacheBreakpoint;
    readonly mode?: "implicit" | "explicit";
    readonly key?: Text;
    readonly retention?: string;
    readonly reference?: Text;
    readonly prewarm?: boolean;
  };
  readonly identity: { readonly endUser?: Text; readonly safetyId?: Text };
  /** String pairs only, in source order. */
  readonly metadata?: readonly (readonly [Text, Text])[];
  readonly serviceTier?: ServiceTier;
  readonly speed?: "standard" | "fast";
  readonly store?: boolean;
  readonly state?: {
    readonly previousResponseId?: Text;
    readonly conversation?: Raw;
    readonly background?: boolean;
    readonly prompt?: Raw;
    readonly itemReferences?: readonly Text[];
    /** A server-side thread that lives at one upstream account. */
    readonly thread?: Raw;
  };
  readonly streamOptions: { readonly includeUsage?: boolean; readonly jsonArray?: boolean };
  readonly apiVersion?: string;
  readonly betas?: readonly string[];
  /** Where single members came from, as JSON Pointers, for issues; absent ones stand at `/<member>`. */
  readonly origins?: Readonly<Record<string, string>>;
  readonly extensions: readonly Extension[];
  /** How the client's own dialect wants the answer shaped (e.g. deprecated members); only that dialect reads it. */
  readonly answerHints?: Readonly<Record<string, unknown>>;
}
