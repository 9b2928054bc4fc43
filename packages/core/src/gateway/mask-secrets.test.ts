import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { maskSecrets } from "./mask-secrets.ts";

describe("maskSecrets", () => {
  it.each([
    { name: "our own secret", text: "bad hunter2-long!", secrets: ["hunter2-long"], expected: "bad [masked]!" },
    { name: "every occurrence", text: "abcd abcd", secrets: ["abcd"], expected: "[masked] [masked]" },
    { name: "nothing for an account without a secret", text: "all well", secrets: [null], expected: "all well" },
    { name: "no secret too short to mean anything", text: "the abc", secrets: ["abc"], expected: "the abc" },
    {
      name: "a secret of regular expression characters",
      text: "x a.*+b y",
      secrets: ["a.*+b"],
      expected: "x [masked] y",
    },
    {
      name: "a key of a common shape",
      text: "Incorrect API key provided: sk-proj-abcdef123456.",
      secrets: [],
      expected: "Incorrect API key provided: [masked]",
    },
    { name: "a partly starred key", text: "key: sk-ab**********yz", secrets: [], expected: "key: [masked]" },
    {
      name: "other vendors' shapes",
      text: "AIzaSyA1234567890 gsk_abcdefgh xai-12345678 dgm_abcdefgh1",
      secrets: [],
      expected: "[masked] [masked] [masked] [masked]",
    },
    {
      name: "a bearer token",
      text: "Authorization: Bearer abcdefgh.ijkl=",
      secrets: [],
      expected: "Authorization: [masked]",
    },
    {
      name: "but leaves words that only begin like a key",
      text: "16 key-value pairs, key_type, sk-short, risk-averse",
      secrets: [],
      expected: "16 key-value pairs, key_type, sk-short, risk-averse",
    },
  ])("masks $name", ({ text, secrets, expected }) => {
    expect(maskSecrets(text, secrets)).toBe(expected);
  });

  it("leaves no given secret in any text (property)", () => {
    const anySecret = fc.string({ minLength: 4, maxLength: 30 }).filter((secret) => !"[masked]".includes(secret));
    fc.assert(
      fc.property(anySecret, fc.array(fc.string({ maxLength: 5 }), { maxLength: 4 }), (secret, pieces) => {
        // A mask between pieces could only form the secret anew if the secret held brackets itself.
        fc.pre(!secret.includes("[") && !secret.includes("]"));
        expect(maskSecrets(pieces.join(secret), [secret])).not.toContain(secret);
      }),
    );
  });
});
