/** Takes credentials out of texts that came from a provider before a client or a log sees them. */

const MASK = "[masked]";

/**
 * Shapes of keys that providers echo: vendor prefixes followed by at least eight key characters (`sk-…`, `AIza…`, `gsk_…`,
 * `dgm_…`), partly starred ones included, and bearer tokens.
 */
const KEY_SHAPES =
  /\b(?:sk|pk|rk|gsk|xai|dgm|key)[-_][A-Za-z0-9*_-]{8,}[A-Za-z0-9*._…-]*|\bAIza[A-Za-z0-9_-]{8,}|\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/g;

/** Masks the given secrets wherever they stand, and everything that has the shape of a key. */
export function maskSecrets(text: string, secrets: readonly (string | null)[]): string {
  let masked = text;
  for (const secret of secrets) if (secret !== null && secret.length >= 4) masked = masked.replaceAll(secret, MASK);
  return masked.replaceAll(KEY_SHAPES, MASK);
}
