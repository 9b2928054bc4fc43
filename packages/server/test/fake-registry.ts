/** A registry of two made-up provider kinds over one made-up dialect, for tests of everything that only reads configurations. */
import { DialectRegistry } from "@dragoman/core";
import type { ClientDialect, ProviderDialect, ProviderKind } from "@dragoman/core";

const provider: Pick<ProviderDialect, "id" | "compileProfile"> = {
  id: "plain",
  compileProfile: (name, overrides) => ({ ok: true, profile: { name, ...overrides } }),
};

const hosted: ProviderKind = {
  id: "hosted",
  baseUrl: "https://llm.example.com",
  basePathSuffix: "/v1",
  dialects: ["plain"],
  profiles: { plain: "standard" },
  credentialHeader: { name: "authorization", prefix: "Bearer " },
  isCredentialOptional: false,
  disconnect: "drain",
  discovery: { environment: "HOSTED_API_KEY", provider: "hosted", models: ["big-*", "b*"] },
  capabilitiesOf: () => ({}),
};

const local: ProviderKind = {
  id: "local",
  basePathSuffix: "",
  dialects: ["plain"],
  profiles: { plain: "loose" },
  credentialHeader: { name: "authorization", prefix: "Bearer " },
  isCredentialOptional: true,
  disconnect: "cancel",
  capabilitiesOf: () => ({}),
};

export const FAKE_REGISTRY: DialectRegistry = new DialectRegistry(
  // Nothing of the tests that use this calls more of a dialect than is here.
  [{ client: { id: "plain", routes: [] } as unknown as ClientDialect, provider: provider as ProviderDialect }],
  [hosted, local],
);
