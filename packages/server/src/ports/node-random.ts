/** Randomness of this process for the engine: unguessable ids from one buffered draw of the system's generator. */
import { randomFillSync } from "node:crypto";

import type { Random } from "@dragoman/core";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Largest multiple of 62 below 256: bytes from there on would favour the first letters. */
const FAIR_BYTES = 248;
const BUFFER_BYTES = 4_096;

/** Makes a source with a buffer of its own; a call to the system costs about as much as 4 KiB of its bytes. */
export function createNodeRandom(): Random {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let position = BUFFER_BYTES;
  const nextByte = (): number => {
    if (position === BUFFER_BYTES) {
      randomFillSync(buffer);
      position = 0;
    }
    return buffer[position++] as number;
  };
  return {
    next: () => Math.random(),
    id: (length) => {
      let id = "";
      while (id.length < length) {
        const byte = nextByte();
        if (byte < FAIR_BYTES) id += ALPHABET[byte % ALPHABET.length];
      }
      return id;
    },
  };
}
