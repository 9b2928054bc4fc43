// The rule for tool-call ids of a profile, compiled.
import type { ToolIdRule } from "../shared/tool-ids.ts";
import type { ChatProfile } from "./profiles.ts";

/** Compiles a profile's id rule; the pattern was checked when the profile was compiled. */
export function compileIdRule(profile: ChatProfile): ToolIdRule {
  const { pattern, maxLength, prefix, length } = profile.toolCallIdRule;
  return { pattern: new RegExp(pattern), maxLength, prefix, length };
}
