/** How accounts of this vendor, and of servers that copy its API, are addressed. */
import type { ProviderKind } from "@dragoman/core";

import { capabilitiesOf } from "./capabilities.ts";
import { ANTHROPIC } from "./members.ts";

/** The provider kinds of this dialect. */
export const ANTHROPIC_KINDS: readonly ProviderKind[] = [
  {
    id: "anthropic",
    baseUrl: "https://api.anthropic.com",
    basePathSuffix: "/v1",
    dialects: [ANTHROPIC],
    profiles: { [ANTHROPIC]: "anthropic" },
    credentialHeader: { name: "x-api-key", prefix: "" },
    isCredentialOptional: false,
    disconnect: "drain",
    discovery: { environment: "ANTHROPIC_API_KEY", provider: "anthropic", models: ["claude-*"] },
    capabilitiesOf: (model) => capabilitiesOf(model),
  },
];
