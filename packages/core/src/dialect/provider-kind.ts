/** Provider kinds as data: how an account of one vendor (or of any compatible server) is addressed. */
import type { DialectId } from "../ir/index.ts";
import type { CapabilityOverrides } from "./capabilities.ts";

/** How upstream accounts of one kind are reached. */
export interface ProviderKind {
  readonly id: string;
  /** Used when the configuration names none; absent = `baseUrl` is required. */
  readonly baseUrl?: string;
  /** Path that the base URL must end with; appended when it does not, e.g. `/v1`. */
  readonly basePathSuffix: string;
  /** Dialects it speaks, best first; a client's own dialect is preferred where it is listed. */
  readonly dialects: readonly DialectId[];
  /** Default profile by dialect. */
  readonly profiles: Readonly<Record<DialectId, string>>;
  /** The header that carries a credential: name, and what stands before the secret. */
  readonly credentialHeader: { readonly name: string; readonly prefix: string };
  /** Whether an account without a credential makes sense (local servers). */
  readonly isCredentialOptional: boolean;
  /** What happens upstream when a client leaves: read on for usage, or cancel at once. */
  readonly disconnect: "drain" | "cancel";
  /** Zero-configuration start: the variable that holds a key and the model names that then exist. */
  readonly discovery?: { readonly environment: string; readonly provider: string; readonly models: readonly string[] };
  /** Built-in knowledge about a model, by its upstream id. */
  capabilitiesOf(model: string, profile: string): CapabilityOverrides;
}
