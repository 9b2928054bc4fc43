/** Calls hooks within their time budget and turns what they return, throw or fail to return into a decision. */
import type { NeutralError } from "../ir/index.ts";
import type { CommitView, Hook, HookBlock, RequestView } from "./hook.ts";
import type { ExchangeOutcome } from "./outcome.ts";
import type { Clock, Logger } from "./ports.ts";

const DEFAULT_TIMEOUT_MS = 1_000;

/** What request hooks decided together. */
export type RequestDecision =
  | { readonly kind: "continue" }
  | { readonly kind: "replaced"; readonly body: Uint8Array }
  | { readonly kind: "refused"; readonly error: NeutralError };

/** What commit hooks decided together. */
export type CommitDecision =
  | { readonly kind: "continue" }
  | { readonly kind: "next"; readonly error: NeutralError }
  | { readonly kind: "refused"; readonly error: NeutralError };

type Call<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false };

const CONTINUE = { kind: "continue" } as const;

/** All hooks of one gateway, in their order. Stateless between calls. */
export class HookRunner {
  readonly hooks: readonly Hook[];
  readonly hasRequestHooks: boolean;
  readonly hasCommitHooks: boolean;
  readonly hasEventHooks: boolean;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(hooks: readonly Hook[], clock: Clock, logger: Logger) {
    this.hooks = hooks;
    this.hasRequestHooks = hooks.some((hook) => hook.onRequest !== undefined);
    this.hasCommitHooks = hooks.some((hook) => hook.beforeCommit !== undefined);
    this.hasEventHooks = hooks.some((hook) => hook.onEvent !== undefined);
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Runs one request hook. The caller goes on with the next one, on the new body where this one replaced it. A hook without
   * `writes` that returns a body has failed.
   */
  async runRequestHook(hook: Hook, view: RequestView): Promise<RequestDecision> {
    const { onRequest } = hook;
    if (onRequest === undefined) return CONTINUE;
    const call = await this.#call(hook, () =>
      onRequest.run(onRequest.reads === "body" ? view : { ...view, document: null }),
    );
    if (!call.ok) return failure(hook);
    const verdict = call.value;
    if (verdict === undefined) return CONTINUE;
    if ("block" in verdict) return { kind: "refused", error: blocked(verdict.block) };
    if (onRequest.writes === true) return { kind: "replaced", body: verdict.body };
    this.#logger.error({ hook: hook.name }, "a hook returned a body without declaring that it writes");
    return failure(hook);
  }

  /** Runs all commit hooks; the first that does not go on decides. */
  async runCommitHooks(view: CommitView): Promise<CommitDecision> {
    for (const hook of this.hooks) {
      const { beforeCommit } = hook;
      if (beforeCommit === undefined) continue;
      const call = await this.#call(hook, () => beforeCommit(view));
      if (!call.ok) {
        const failed = failure(hook);
        if (failed.kind === "refused") return failed;
        continue;
      }
      const verdict = call.value;
      if (verdict === undefined) continue;
      if ("block" in verdict) return { kind: "refused", error: blocked(verdict.block) };
      return {
        kind: "next",
        error: { ...blocked({ message: "The answer was refused by a policy of this gateway." }), fallback: true },
      };
    }
    return CONTINUE;
  }

  /** Tells every outcome hook. */
  async runOutcomeHooks(outcome: ExchangeOutcome): Promise<void> {
    for (const hook of this.hooks) {
      const { onOutcome } = hook;
      if (onOutcome !== undefined) await this.#call(hook, () => onOutcome(outcome));
    }
  }

  /** A hook's failure in words for the log: name and error, no content. */
  reportFailure(hook: Hook, thrown: unknown): void {
    const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    this.#logger.error({ hook: hook.name, error, policy: hook.onFailure ?? "closed" }, "a hook failed");
  }

  async #call<Value>(hook: Hook, run: () => Value | Promise<Value>): Promise<Call<Value>> {
    try {
      const result = run();
      if (!(result instanceof Promise)) return { ok: true, value: result };
      return { ok: true, value: await this.#withinBudget(hook, result) };
    } catch (thrown) {
      this.reportFailure(hook, thrown);
      return { ok: false };
    }
  }

  #withinBudget<Value>(hook: Hook, result: Promise<Value>): Promise<Value> {
    const timeoutMs = hook.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.schedule(timeoutMs, () =>
        reject(new Error(`The hook took longer than ${timeoutMs} ms.`)),
      );
      const settle =
        <Argument>(then: (argument: Argument) => void) =>
        (argument: Argument): void => {
          timer.cancel();
          then(argument);
        };
      result.then(settle(resolve), settle(reject));
    });
  }
}

/** The error of a client whose request or answer a hook refused. */
function blocked({ message, code }: HookBlock): NeutralError {
  return {
    class: "content-policy",
    origin: "gateway",
    message,
    code: "blocked_by_policy",
    ...(code === undefined ? {} : { code }),
    retrySame: false,
    fallback: false,
  };
}

/** What a failed hook means: nothing where it fails open, an internal error otherwise. */
function failure(
  hook: Hook,
): { readonly kind: "continue" } | { readonly kind: "refused"; readonly error: NeutralError } {
  return hook.onFailure === "open" ? CONTINUE : { kind: "refused", error: hookFailure() };
}

/** The client's error when a hook that must not fail has failed. It names no hook: policies are the operator's business. */
export const hookFailure = (): NeutralError => ({
  class: "internal",
  origin: "gateway",
  message: "A policy check of this gateway failed.",
  code: "hook_failed",
  retrySame: false,
  fallback: false,
});
