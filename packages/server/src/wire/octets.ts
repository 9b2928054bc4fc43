// Byte classes of HTTP/1.1 field syntax as look-up tables, and the few octets that the parsers name.

/** HTAB. */
export const TAB = 0x09;
/** LF. */
export const LF = 0x0a;
/** CR. */
export const CR = 0x0d;
/** SP. */
export const SPACE = 0x20;
/** `:` */
export const COLON = 0x3a;
/** `;` */
export const SEMICOLON = 0x3b;
/** `=` */
export const EQUALS = 0x3d;

function tableOf(isMember: (octet: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, octet) => (isMember(octet) ? 1 : 0));
}

/** 1 for `tchar` (RFC 9110 §5.6.2). */
export const IS_TOKEN: Uint8Array = tableOf((octet) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(octet)));

/** 1 for what may stand in a field value or a reason phrase: HTAB, SP, VCHAR, obs-text (RFC 9110 §5.5, RFC 9112 §4). */
export const IS_FIELD_TEXT: Uint8Array = tableOf((octet) => octet === TAB || (octet >= SPACE && octet !== 0x7f));

/** Value of a hexadecimal digit, 255 for every other octet. */
export const HEX_VALUE: Uint8Array = Uint8Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  return /[0-9A-Fa-f]/.test(character) ? Number.parseInt(character, 16) : 255;
});
