// Profiles out of the configuration: a built-in base, overrides, and what is wrong with them, member by member.
import { CHAT_PROFILES } from "./profiles.ts";
import type { ChatProfile, ToolCallIdRule } from "./profiles.ts";

/** One thing that is wrong with a configured profile. */
export interface ProfileProblem {
  readonly path: string;
  readonly message: string;
}

/** A complete profile, or what is wrong with it. */
export type CompiledProfile =
  | { readonly ok: true; readonly profile: ChatProfile }
  | { readonly ok: false; readonly problems: readonly ProfileProblem[] };

/** Words that a member may hold, where they are few. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  maxTokensField: ["max_completion_tokens", "max_tokens"],
  otherMaxTokensField: ["accepted", "refused", "reasoning-refuses"],
  instructionRole: ["developer", "system"],
  streamUsage: ["stream_options", "unasked"],
  reasoningHistory: ["strip", "keep", "required"],
  toolChoices: ["auto", "none", "required", "tool", "allowed"],
  responseFormats: ["json_object", "json_schema"],
  images: ["any", "data-url", "none"],
  textLists: ["keep", "join"],
  seedField: ["seed", "random_seed"],
  endUserField: ["safety_identifier", "user"],
};

const FINISH_MEANINGS: readonly string[] = ["stop", "length", "tool_calls", "content_filter", "error", "overloaded"];

/**
 * Lays overrides over a built-in profile. The override `extends` names another base than `name`. Every member is checked against the
 * kind of value that the base has there.
 */
export function compileChatProfile(name: string, overrides: Readonly<Record<string, unknown>>): CompiledProfile {
  const baseName = overrides["extends"] ?? name;
  const base =
    typeof baseName === "string" && Object.hasOwn(CHAT_PROFILES, baseName) ? CHAT_PROFILES[baseName] : undefined;
  if (base === undefined) {
    const known = Object.keys(CHAT_PROFILES).join(", ");
    const path = overrides["extends"] === undefined ? "" : "/extends";
    return {
      ok: false,
      problems: [{ path, message: `There is no profile ${JSON.stringify(baseName)}; there are ${known}.` }],
    };
  }
  const problems: ProfileProblem[] = [];
  const members: Record<string, unknown> = { ...base, name };
  for (const [member, value] of Object.entries(overrides)) {
    if (member === "extends" || value === undefined) continue;
    const problem = problemOf(member, value, base);
    if (problem === null) members[member] = value;
    else problems.push({ path: `/${member}`, message: problem });
  }
  // Every member of `base` is there, and every override was checked against it.
  return problems.length > 0 ? { ok: false, problems } : { ok: true, profile: members as unknown as ChatProfile };
}

function problemOf(member: string, value: unknown, base: ChatProfile): string | null {
  if (member === "name" || !Object.hasOwn(base, member)) return `A profile has no member "${member}".`;
  if (member === "toolCallIdRule") return idRuleProblem(value);
  if (member === "finishReasonMap") return finishMapProblem(value);
  if (member === "accepts" && value === null) return null;
  const standard = base[member];
  const words = CHOICES[member];
  if (Array.isArray(standard) || member === "accepts") {
    const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
    if (!isList) return "This must be a list of strings.";
    const wrong = words === undefined ? undefined : (value as string[]).find((item) => !words.includes(item));
    return wrong === undefined ? null : `"${wrong}" is not one of ${(words ?? []).join(", ")}.`;
  }
  if (typeof value !== typeof standard) return `This must be a ${typeof standard}.`;
  return words === undefined || words.includes(value as string) ? null : `This must be one of ${words.join(", ")}.`;
}

function idRuleProblem(value: unknown): string | null {
  const rule = value as Partial<Record<keyof ToolCallIdRule, unknown>> | null;
  const isRule =
    typeof rule === "object" &&
    rule !== null &&
    typeof rule.pattern === "string" &&
    typeof rule.maxLength === "number" &&
    typeof rule.prefix === "string" &&
    typeof rule.length === "number";
  if (!isRule) return "This must be an object with pattern, maxLength, prefix and length.";
  try {
    RegExp(rule.pattern as string);
    return null;
  } catch {
    // The constructor throws for a pattern that is no regular expression; that is the answer here.
    return "The pattern is not a regular expression.";
  }
}

function finishMapProblem(value: unknown): string | null {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap) return "This must be an object of finish words.";
  const wrong = Object.values(value).find((meaning) => !FINISH_MEANINGS.includes(meaning as string));
  return wrong === undefined ? null : `A finish word means one of ${FINISH_MEANINGS.join(", ")}.`;
}
