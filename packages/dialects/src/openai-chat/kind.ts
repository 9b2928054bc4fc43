// Provider kinds that speak this dialect, as data.
import type { ProviderKind } from "@dragoman/core";

import { capabilitiesOfModel, capabilitiesOfServer } from "./capabilities.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";

/** The vendor's own API. */
export const OPENAI_KIND: ProviderKind = {
  id: "openai",
  baseUrl: "https://api.openai.com",
  basePathSuffix: "/v1",
  dialects: [OPENAI_CHAT],
  profiles: { [OPENAI_CHAT]: "openai" },
  credentialHeader: { name: "authorization", prefix: "Bearer " },
  isCredentialOptional: false,
  disconnect: "drain",
  discovery: { environment: "OPENAI_API_KEY", provider: "openai", models: ["gpt-*", "o*"] },
  capabilitiesOf: (model) => capabilitiesOfModel(model),
};

/** Any server with the same API; its base URL includes whatever stands before `/chat/completions`. */
export const OPENAI_COMPATIBLE_KIND: ProviderKind = {
  id: "openai-compatible",
  basePathSuffix: "",
  dialects: [OPENAI_CHAT],
  profiles: { [OPENAI_CHAT]: "generic" },
  credentialHeader: { name: "authorization", prefix: "Bearer " },
  isCredentialOptional: true,
  disconnect: "cancel",
  capabilitiesOf: (model, profile) =>
    profile === "openai" || profile === "azure" ? capabilitiesOfModel(model) : capabilitiesOfServer(),
};

/** The Azure resource's v1 API, where a model is a deployment name; nothing can be told from that name. */
export const AZURE_OPENAI_KIND: ProviderKind = {
  id: "azure-openai",
  basePathSuffix: "/openai/v1",
  dialects: [OPENAI_CHAT],
  profiles: { [OPENAI_CHAT]: "azure" },
  credentialHeader: { name: "api-key", prefix: "" },
  isCredentialOptional: false,
  disconnect: "drain",
  capabilitiesOf: (model) => capabilitiesOfModel(model),
};

/** Every kind of this room. */
export const OPENAI_KINDS: readonly ProviderKind[] = [OPENAI_KIND, OPENAI_COMPATIBLE_KIND, AZURE_OPENAI_KIND];
