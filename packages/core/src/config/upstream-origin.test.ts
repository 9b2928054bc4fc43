import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readBaseUrl } from "./upstream-origin.ts";

describe("readBaseUrl", () => {
  const good: readonly {
    readonly url: string;
    readonly suffix: string;
    readonly expected: readonly [string, number, string, string];
  }[] = [
    { url: "https://llm.example.com", suffix: "/v1", expected: ["llm.example.com", 443, "llm.example.com", "/v1"] },
    { url: "https://llm.example.com/", suffix: "/v1", expected: ["llm.example.com", 443, "llm.example.com", "/v1"] },
    { url: "https://llm.example.com/v1", suffix: "/v1", expected: ["llm.example.com", 443, "llm.example.com", "/v1"] },
    { url: "https://llm.example.com/v1/", suffix: "/v1", expected: ["llm.example.com", 443, "llm.example.com", "/v1"] },
    {
      url: "https://llm.example.com/api",
      suffix: "/v1",
      expected: ["llm.example.com", 443, "llm.example.com", "/api/v1"],
    },
    { url: "http://127.0.0.1:11434/v1", suffix: "", expected: ["127.0.0.1", 11_434, "127.0.0.1:11434", "/v1"] },
    { url: "http://[::1]:8000", suffix: "", expected: ["::1", 8000, "[::1]:8000", ""] },
    { url: "https://LLM.example.com:443/x", suffix: "", expected: ["llm.example.com", 443, "llm.example.com", "/x"] },
  ];
  it.each(good)("takes $url apart", ({ url, suffix, expected }) => {
    const reading = readBaseUrl(url, suffix);
    expect(
      reading.ok && [reading.origin.host, reading.origin.port, reading.origin.authority, reading.basePath],
    ).toEqual(expected);
  });

  const bad: readonly { readonly url: string; readonly message: RegExp }[] = [
    { url: "llm.example.com/v1", message: /absolute URL/ },
    { url: "", message: /absolute URL/ },
    { url: "ftp://llm.example.com", message: /https:\/\/ or http/ },
    { url: "https://user:hunter2@llm.example.com", message: /user name/ },
    { url: "https://llm.example.com/v1?key=1", message: /query/ },
    { url: "https://llm.example.com/v1?", message: /query/ },
    { url: "https://llm.example.com/v1#x", message: /fragment/ },
    { url: "https://llm.example.com//v1", message: /\/\// },
    { url: "https://llm.example.com/ v1", message: /white space/ },
    { url: "https:\\\\llm.example.com", message: /backslash/ },
    { url: "https://llm.example.com:0", message: /port 0/ },
    { url: "https://llm.example.com:99999", message: /absolute URL/ },
  ];
  it.each(bad)("refuses $url", ({ url, message }) => {
    const reading = readBaseUrl(url, "");
    expect(reading.ok ? "accepted" : reading.message).toMatch(message);
  });

  it("never repeats a password in its message", () => {
    const reading = readBaseUrl("https://user:hunter2@llm.example.com", "");
    expect(JSON.stringify(reading)).not.toContain("hunter2");
  });

  it("gives a clean base path, or a refusal, for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true, withFragments: true })), (url) => {
        const reading = readBaseUrl(url, "/v1");
        if (!reading.ok) return;
        expect(reading.basePath).toMatch(/^(\/[^\s?#\\]+)+$/);
        expect(reading.origin.port).toBeGreaterThan(0);
      }),
    );
  });
});
