/**
 * Arranges a neutral conversation as this dialect wants it: instructions apart, user first, no empty texts, neighbours of one role
 * as one turn, every call answered in the very next turn, results first. What cannot be arranged is an issue.
 */
import { isEmptyText, textToString, type Message, type Part, type ReasoningPart, type TextPart } from "@dragoman/core";

import { resultsFirst } from "./decode-messages.ts";
import type { Encoding } from "./encoding.ts";
import { ANTHROPIC } from "./members.ts";
import { acceptsReasoningOf } from "./model-family.ts";
import { endsInWhiteSpace, isBlankText } from "./text-checks.ts";

/** One message of the upstream's request. */
export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly parts: Part[];
  readonly messages: Message[];
  readonly at: string;
}

/** A conversation as it will be written. */
export interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

class TurnPlanner {
  readonly #encoding: Encoding;
  readonly #system: TextPart[] = [];
  readonly #developer: TextPart[] = [];
  readonly #hoisted: TextPart[] = [];

  constructor(encoding: Encoding) {
    this.#encoding = encoding;
  }

  plan(): Conversation {
    const turns = this.#placeInstructions(this.#gather());
    this.#orderResults(turns);
    this.#checkPairs(turns);
    this.#checkEnds(turns);
    return { system: [...this.#system, ...this.#developer, ...this.#hoisted], turns };
  }

  #gather(): readonly Turn[] {
    const turns: Turn[] = [];
    for (const message of this.#encoding.request.messages) {
      this.#reportMembers(message);
      if (message.role !== "instruction") {
        const parts = message.parts.filter((part) => this.#keeps(part, message.role === "assistant"));
        // An assistant message that said nothing can go; a user's is checked once its neighbours are known.
        if (parts.length > 0 || message.role === "user") append(turns, message.role, message, parts);
        else this.#encoding.ownExtensions(message.extensions);
      } else if (turns.length === 0) this.#addLeading(message);
      else {
        const texts = this.#instructionTexts(message);
        if (texts.length > 0) append(turns, "system", message, texts);
      }
    }
    return turns;
  }

  #reportMembers(message: Message): void {
    const { issues } = this.#encoding;
    if (message.name !== undefined) {
      issues.drop("name_unsupported", `${message.at}/name`, "Participants have no names in this dialect.");
    }
    if (message.phase !== undefined) {
      issues.drop("phase_unsupported", `${message.at}/phase`, "Messages have no phase in this dialect.");
    }
  }

  #addLeading(message: Message): void {
    const texts = this.#instructionTexts(message);
    if (message.authority === "developer") {
      for (const text of texts) this.#developer.push(text);
      this.#encoding.issues.adapt("system_merged", message.at, "System and developer instructions share one place.");
    } else for (const text of texts) this.#system.push(text);
    this.#encoding.ownExtensions(message.extensions);
  }

  #instructionTexts(message: Message): readonly TextPart[] {
    const texts: TextPart[] = [];
    for (const part of message.parts) {
      if (part.type !== "text") {
        this.#encoding.issues.reject("capability_missing", part.at, "Instructions hold text only.");
      } else if (this.#keeps(part, false)) texts.push(part);
    }
    return texts;
  }

  /** Whether a part is sent; reports the ones that are not. */
  #keeps(part: Part, isAssistant: boolean): boolean {
    const { issues } = this.#encoding;
    switch (part.type) {
      case "text":
      case "refusal":
        if (!isBlankText(part.text)) return true;
        // A plain empty string is how some dialects say "no text".
        if (!isEmptyText(part.text) || !isAssistant) {
          issues.adapt("empty_text_removed", part.at, "A text without visible characters was left out.");
        }
        return false;
      case "reasoning":
        if (this.#isReplayable(part)) return true;
        issues.drop(
          "reasoning_history_foreign",
          part.at,
          "The reasoning was made by a model that this one cannot verify.",
        );
        return false;
      case "opaque":
        if (part.dialect === ANTHROPIC) return true;
        issues.drop("unknown_field", part.at, "The content part has no place in this dialect.");
        return false;
      default:
        return true;
    }
  }

  #isReplayable({ signature, redacted }: ReasoningPart): boolean {
    if (signature === undefined) return redacted !== undefined && this.#encoding.request.source === ANTHROPIC;
    if (signature.origin !== "a" && signature.origin !== "ar") return false;
    const { model, options } = this.#encoding.target;
    return acceptsReasoningOf(signature.model, model, options);
  }

  /** Mid-conversation instructions stay where the position rule holds, and go to the front where that is allowed. */
  #placeInstructions(turns: readonly Turn[]): readonly Turn[] {
    const { issues, target } = this.#encoding;
    const placed: Turn[] = [];
    turns.forEach((turn, index) => {
      if (turn.role !== "system") {
        for (const message of turn.messages) append(placed, turn.role, message, []);
        const { parts } = placed.at(-1) as Turn;
        // Never spread into a call: a body has room for more parts than a call has for arguments.
        for (const part of turn.parts) parts.push(part);
        return;
      }
      const before = turns[index - 1];
      const after = turns[index + 1];
      const isWellPlaced =
        before !== undefined && mayPrecedeSystem(before) && (after === undefined || after.role === "assistant");
      if (target.capabilities.midConversationSystem && isWellPlaced) {
        placed.push(turn);
        return;
      }
      const detail = "The deployment takes no instruction at this place of the conversation.";
      if (!issues.drop("system_position_unsupported", turn.at, detail)) return;
      issues.adapt("instruction_moved", turn.at, "The instruction was moved behind the leading ones.");
      for (const part of turn.parts) if (part.type === "text") this.#hoisted.push(part);
    });
    return placed;
  }

  #orderResults(turns: readonly Turn[]): void {
    turns.forEach((turn, index) => {
      if (turn.role !== "user" || !turn.parts.some((part) => part.type === "tool-result")) return;
      const ordered = resultsFirst(turn.parts, turns[index - 1]?.parts ?? []);
      turn.parts.splice(0, turn.parts.length, ...ordered);
    });
  }

  #checkPairs(turns: readonly Turn[]): void {
    let open = new Map<string, string>();
    for (const turn of turns) {
      const answered = turn.role === "user" ? open : new Map<string, string>();
      for (const part of turn.role === "user" ? turn.parts : []) {
        if (part.type !== "tool-result" || answered.delete(textToString(part.callId))) continue;
        this.#reportUnpaired(part.at, "A tool result answers no call of the message before it.");
      }
      for (const at of open.values()) this.#reportUnpaired(at, "A tool call is not answered in the next message.");
      open = turn.role === "assistant" ? callsOf(turn) : new Map();
    }
    for (const at of open.values()) this.#reportUnpaired(at, "A tool call is not answered.");
  }

  #reportUnpaired(at: string, detail: string): void {
    this.#encoding.issues.reject("tool_result_unpaired", at, detail);
  }

  #checkEnds(turns: readonly Turn[]): void {
    const { issues, target } = this.#encoding;
    for (const { role, parts, at } of turns) {
      if (role === "user" && parts.length === 0) {
        issues.reject("empty_content", at, "A user message without content cannot be sent.");
      }
    }
    const [first] = turns;
    if (first?.role !== "user") {
      issues.reject("role_sequence_invalid", first?.at ?? "/messages", "A conversation begins with a user message.");
    }
    const last = turns.at(-1);
    if (last?.role !== "assistant") return;
    const lastPart = last.parts.at(-1);
    if (!target.capabilities.prefill) {
      issues.reject("prefill_unsupported", last.at, "The model does not continue an assistant message.");
    } else if (lastPart?.type === "text" && endsInWhiteSpace(lastPart.text)) {
      issues.reject(
        "prefill_unsupported",
        lastPart.at,
        "An assistant message to be continued must not end in white space.",
      );
    }
  }
}

/** Adds content to the last turn when that has the same role, else opens a turn. */
function append(turns: Turn[], role: Turn["role"], message: Message, parts: readonly Part[]): void {
  const last = turns.at(-1);
  if (last === undefined || last.role !== role) {
    turns.push({ role, parts: [...parts], messages: [message], at: message.at });
    return;
  }
  for (const part of parts) last.parts.push(part);
  last.messages.push(message);
}

const mayPrecedeSystem = (turn: Turn): boolean =>
  turn.role === "user" || (turn.role === "assistant" && turn.parts.at(-1)?.type === "server-tool");

/** The calls of a turn by id, with their places. */
function callsOf(turn: Turn): Map<string, string> {
  const calls = new Map<string, string>();
  for (const part of turn.parts) if (part.type === "tool-call") calls.set(textToString(part.id), part.at);
  return calls;
}

/** Arranges the conversation of a request. */
export function planTurns(encoding: Encoding): Conversation {
  return new TurnPlanner(encoding).plan();
}
