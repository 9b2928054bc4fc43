/**
 * Hooks: a host's own functions inside an exchange, for guardrails, policies and observation. A hook says what it reads and
 * writes, so that a gateway whose hooks only look still forwards the client's bytes without a copy.
 */
import type { StreamEvent, Usage } from "../ir/index.ts";
import type { Document } from "../json/index.ts";
import type { ExchangeOutcome } from "./outcome.ts";
import type { Principal } from "./ports.ts";

/** What every hook is told of its exchange. */
export interface HookView {
  readonly requestId: string;
  readonly principal: Principal;
  /** The public model name that was asked for. */
  readonly model: string;
  readonly clientDialect: string;
  readonly operation: string;
  readonly isStream: boolean;
}

/** The request, as far as the hook said that it reads. Valid during the call and what it awaits. */
export interface RequestView extends HookView {
  /** The scanned body; null for hooks that read the head only. */
  readonly document: Document | null;
}

/** Refuses the exchange; the client is told in its dialect. */
export interface HookBlock {
  /** For the client: what was refused and what would be right. */
  readonly message: string;
  /** Stable code for the client's error; `blocked_by_policy` by default. */
  readonly code?: string;
}

/** What a request hook decides. Nothing = go on. `body` (bytes of a JSON object) only from hooks that write. */
export type RequestVerdict = void | { readonly block: HookBlock } | { readonly body: Uint8Array };

/** Looks at requests before they are planned, or replaces their body. */
export interface RequestHook {
  /** `head`: model, stream flag and caller; `body`: the scanned body as well. */
  readonly reads: "head" | "body";
  /** Whether it may return another body, which is then the client's request in everything that follows. */
  readonly writes?: boolean;
  run(view: RequestView): RequestVerdict | Promise<RequestVerdict>;
}

/** The answer at the moment before the client sees its first byte. */
export interface CommitView extends HookView {
  readonly deploymentId: string;
  /** Usage as far as it is known. */
  readonly usage: Usage | null;
}

/** What a commit hook decides: go on, refuse, or discard this answer and try the next deployment. */
export type CommitVerdict = void | { readonly block: HookBlock } | { readonly next: true };

/** Sees the events of one answer. Synchronous: it runs per event. */
export interface EventTap {
  /**
   * Takes one event. A writing tap returns what goes on in its place (none, one or several events); texts that it keeps beyond
   * the call it copies (`retainText`, `textToString`). What a reading tap returns is ignored.
   */
  event(event: StreamEvent): readonly StreamEvent[] | void;
}

/** Watches or rewrites answers, streamed and whole alike. */
export interface EventHook {
  /** Whether taps replace events. The answer is then always encoded anew. */
  readonly writes: boolean;
  /** Makes the tap of one answer. Each attempt has its own. */
  open(view: HookView): EventTap;
}

/** A named set of hook functions with its budget. */
export interface Hook {
  readonly name: string;
  /** Time that one call may take, in milliseconds; 1,000 by default. */
  readonly timeoutMs?: number;
  /** When a call throws or is late: `closed` (default) refuses the request, `open` goes on as if the hook were not there. */
  readonly onFailure?: "closed" | "open";
  readonly onRequest?: RequestHook;
  readonly beforeCommit?: (view: CommitView) => CommitVerdict | Promise<CommitVerdict>;
  readonly onEvent?: EventHook;
  /** After the exchange. Its failure is logged and changes nothing. */
  readonly onOutcome?: (outcome: ExchangeOutcome) => void | Promise<void>;
}
