/** How the configuration names a secret that it does not hold: `env:NAME` or `file:PATH`. Who resolves it is a port. */

/** A secret that lives elsewhere. */
export interface SecretReference {
  readonly scheme: "env" | "file";
  /** Name of the variable, or path of the file as it was written. */
  readonly name: string;
}

/** A resolved secret, or one sentence why there is none. A null secret means that this compilation does without. */
export type SecretResolution =
  | { readonly ok: true; readonly secret: string | null }
  | { readonly ok: false; readonly message: string };

/** Resolves a reference. */
export type SecretResolver = (reference: SecretReference) => SecretResolution;

/** Reads a reference; null means that the text is the secret itself. */
export function readSecretReference(text: string): SecretReference | null {
  if (text.startsWith("env:")) return { scheme: "env", name: text.slice(4) };
  if (text.startsWith("file:")) return { scheme: "file", name: text.slice(5) };
  return null;
}
