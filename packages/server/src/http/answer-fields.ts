// What the fields of an answer may hold: nothing that an upstream, a hook or a custom dialect sent can end a line.

import type { HeaderList } from "@dragoman/core";
import { GatewayError } from "@dragoman/core";

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** field-vchar, SP, HTAB and obs-text, one character a byte (RFC 9110 §5.5). */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Throws `state_violation` for fields that cannot be written as they are. A front end asks when it is given them, since it writes
 * them in a turn of its own, where nobody could catch what is thrown.
 */
export function checkAnswerFields(headers: HeaderList): void {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (!TOKEN.test(headers[index] as string) || !FIELD_VALUE.test(headers[index + 1] as string))
      throw new GatewayError("state_violation", "A field of an answer is no valid header field.");
  }
}
