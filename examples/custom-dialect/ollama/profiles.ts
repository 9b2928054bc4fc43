/** What differs between models behind the same API, as data that a configuration can override. */
import type { Profile } from "@dragoman/core";

/** The members of a profile. */
export interface OllamaProfile extends Profile {
  /** How a model is told to think: by `true` and `false`, or by `low`, `medium` and `high` (gpt-oss). */
  readonly think: string;
  /** What a single user message may say of several texts: they are joined with this between them. */
  readonly textSeparator: string;
}

const PLAIN: OllamaProfile = { think: "switch", textSeparator: "\n\n" };

/** `plain` for most models, `levels` for those with levels of thinking. */
export const OLLAMA_PROFILES: Readonly<Record<"plain" | "levels", OllamaProfile>> = {
  plain: PLAIN,
  levels: { ...PLAIN, think: "levels" },
};

/** The profile of a target or context, which `compileProfile` checked against the table above. */
export function asOllamaProfile(profile: Profile): OllamaProfile {
  return profile as OllamaProfile;
}
