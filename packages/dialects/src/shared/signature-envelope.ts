/**
 * The carrier in which a provider's own opaque reasoning proof travels through a client of another dialect:
 * `gwsig1.<origin>.<model>.<payload>[.<text>]`, all but the first two fields in base64url without padding. It is not secret: the
 * provider that made the proof validates it; what does not parse is treated as foreign.
 */

/** What every envelope begins with. */
export const ENVELOPE_PREFIX = "gwsig1.";

/** The contents of an envelope. */
export interface SignatureEnvelope {
  /** Who made the proof and in which form: `a`, `ar`, `g` or `o`. */
  readonly origin: string;
  /** The upstream's model id. */
  readonly model: string;
  /** The proof exactly as it stood on the wire, decoded from its JSON token. */
  readonly data: string;
  /** The reasoning text, when it is not delivered next to the envelope; absent means "take the text beside it". */
  readonly text?: string;
}

const FIELD = /^[A-Za-z0-9_-]*$/;
const ORIGIN = /^[a-z]{1,8}$/;

const encodeField = (text: string): string => Buffer.from(text, "utf8").toString("base64url");

const decodeField = (field: string): string => Buffer.from(field, "base64url").toString("utf8");

/** Writes an envelope. The result is ASCII without characters that JSON escapes. */
export function encodeEnvelope(envelope: SignatureEnvelope): string {
  const { origin, model, data, text } = envelope;
  const head = `${ENVELOPE_PREFIX}${origin}.${encodeField(model)}.${encodeField(data)}`;
  return text === undefined ? head : `${head}.${encodeField(text)}`;
}

/** Reads an envelope, or null when the text is none. */
export function decodeEnvelope(text: string): SignatureEnvelope | null {
  if (!text.startsWith(ENVELOPE_PREFIX)) return null;
  const fields = text.slice(ENVELOPE_PREFIX.length).split(".");
  const [origin, model, data, reasoning] = fields;
  if (fields.length < 3 || fields.length > 4) return null;
  if (origin === undefined || model === undefined || data === undefined) return null;
  if (!ORIGIN.test(origin) || !FIELD.test(model) || !FIELD.test(data)) return null;
  if (reasoning === undefined) return { origin, model: decodeField(model), data: decodeField(data) };
  if (!FIELD.test(reasoning)) return null;
  return { origin, model: decodeField(model), data: decodeField(data), text: decodeField(reasoning) };
}
