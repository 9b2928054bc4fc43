import { describe, expect, it } from "vitest";

import { createSecretResolver } from "./secret-resolver.ts";

const files: Readonly<Record<string, string>> = {
  "/etc/app/plain": "hunter2",
  "/etc/app/line": "hunter2\n",
  "/etc/app/windows": "hunter2\r\n",
  "/etc/app/two": "hunter2\n\n",
  "/run/abs": "abs",
  "/etc/app/empty": "\n",
  "/etc/app/large": "x".repeat(65_537),
};

const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return text;
};

describe("createSecretResolver", () => {
  const rows: readonly { readonly scheme: "env" | "file"; readonly name: string; readonly expected: string }[] = [
    { scheme: "env", name: "SET", expected: "hunter2" },
    { scheme: "env", name: "NONE", expected: "the environment variable NONE is not set" },
    { scheme: "env", name: "EMPTY", expected: "the environment variable EMPTY is empty" },
    { scheme: "env", name: "constructor", expected: "the environment variable constructor is not set" },
    { scheme: "file", name: "plain", expected: "hunter2" },
    { scheme: "file", name: "line", expected: "hunter2" },
    { scheme: "file", name: "windows", expected: "hunter2" },
    { scheme: "file", name: "two", expected: "hunter2\n" },
    { scheme: "file", name: "/run/abs", expected: "abs" },
    { scheme: "file", name: "../app/plain", expected: "hunter2" },
    { scheme: "file", name: "none", expected: "the file none cannot be read (ENOENT)" },
    { scheme: "file", name: "empty", expected: "the file empty is empty" },
    { scheme: "file", name: "large", expected: "the file large is too large for a secret" },
  ];
  it.each(rows)("resolves $scheme:$name to $expected", ({ scheme, name, expected }) => {
    const resolver = createSecretResolver({ env: { SET: "hunter2", EMPTY: "" }, readFile, folder: "/etc/app" });
    const resolution = resolver({ scheme, name });
    expect(resolution.ok ? resolution.secret : resolution.message).toBe(expected);
  });

  it("tells of each file, also of one that cannot be read", () => {
    const seen: string[] = [];
    const resolver = createSecretResolver({ env: {}, readFile, folder: "/etc/app", onFile: (path) => seen.push(path) });
    resolver({ scheme: "file", name: "plain" });
    resolver({ scheme: "file", name: "none" });
    expect(seen).toEqual(["/etc/app/plain", "/etc/app/none"]);
  });
});
