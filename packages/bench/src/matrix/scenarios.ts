// The scenarios: what is sent, and what a correct answer is.
import type { Scenario, ScenarioId } from "../contract/cell.ts";

const CHAT = { dialect: "openai-chat", route: "openai", credential: "good", expect: "answer" } as const;

/** Every scenario of the matrix by its identifier. */
export const SCENARIOS: Readonly<Record<ScenarioId, Scenario>> = {
  S1: { ...CHAT, id: "S1", title: "chat, small" },
  S2: { ...CHAT, id: "S2", title: "chat, large body" },
  S3: { ...CHAT, id: "S3", title: "chat, streamed", expect: "stream" },
  S4: { ...CHAT, id: "S4", title: "Anthropic Messages", dialect: "anthropic", route: "anthropic" },
  S5: { ...CHAT, id: "S5", title: "embeddings", dialect: "openai-embeddings", route: "embeddings" },
  S6: { ...CHAT, id: "S6", title: "chat, many tools" },
  S8: { ...CHAT, id: "S8", title: "unknown key", credential: "unknown", expect: "rejection" },
  "S8-404": { ...CHAT, id: "S8-404", title: "unknown model", route: "unknown", expect: "rejection" },
  M1: { ...CHAT, id: "M1", title: "mixed traffic", mix: { S1: 60, S3: 15, S4: 10, S5: 5, S6: 5, S2: 5 } },
  X1: { ...CHAT, id: "X1", title: "Anthropic client, OpenAI upstream", dialect: "anthropic", route: "cross" },
};

/** The scenarios a scenario's traffic consists of, with their shares in percent. */
export function partsOf(scenario: Scenario): readonly { readonly scenario: Scenario; readonly weight: number }[] {
  if (scenario.mix === undefined) return [{ scenario, weight: 100 }];
  return (Object.entries(scenario.mix) as [ScenarioId, number][]).map(([id, weight]) => ({
    scenario: SCENARIOS[id],
    weight,
  }));
}
