// Bodies that are wrong on purpose: garbage of each kind, and bodies of any size generated lazily.
import type { GarbageKind } from "./faults.ts";

const DEPTH = 20_000;
const BLOCK = 64 * 1024;

/** The body of a kind of garbage. */
export function garbageBody(what: GarbageKind): Buffer {
  switch (what) {
    case "text":
      return Buffer.from("upstream connect error or disconnect/reset before headers");
    case "html":
      return Buffer.from(
        "<!doctype html><html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>",
      );
    case "invalid-utf8":
      return Buffer.from('{"id":"\xff\xfe\xc0\x80"}', "latin1");
    case "null":
      return Buffer.from("null");
    case "array":
      return Buffer.from("[]");
    case "number":
      return Buffer.from("3");
    case "empty":
      return Buffer.alloc(0);
    case "deep":
      return Buffer.from("[".repeat(DEPTH) + "]".repeat(DEPTH));
    case "truncated-json":
      return Buffer.from('{"id":"cut","choices":[{"index":0,"message":{"role":"assistant","content":"Hel');
    case "duplicate-names":
      return Buffer.from('{"id":"a","id":"b","choices":[],"choices":[],"content":[],"content":[]}');
  }
}

/** The text that fills oversized bodies; repeatable and free of anything that needs escaping. */
export function* fillText(bytes: number): Generator<string> {
  const block = "x".repeat(BLOCK);
  let left = bytes;
  while (left > 0) {
    const size = Math.min(left, BLOCK);
    yield size === BLOCK ? block : block.slice(0, size);
    left -= size;
  }
}

/** A body of another kind than JSON for an error status. */
export function errorPage(kind: "html" | "text" | "empty", status: number, reason: string): Buffer {
  if (kind === "empty") return Buffer.alloc(0);
  if (kind === "text") return Buffer.from(`${status} ${reason}\n`);
  return Buffer.from(
    `<html>\r\n<head><title>${status} ${reason}</title></head>\r\n<body>\r\n<center><h1>${status} ${reason}</h1></center>\r\n` +
      "<hr><center>scripted</center>\r\n</body>\r\n</html>\r\n",
  );
}

/** The message of a huge error body: 1 MB. */
export function hugeMessage(): string {
  return "The request failed. ".repeat(52_429);
}
