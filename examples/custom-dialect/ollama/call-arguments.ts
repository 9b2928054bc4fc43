/** Arguments of calls. Other dialects write them as JSON inside a string, Ollama as an object; their bytes stay as the client wrote them. */
import { isSlice, scanRange, unescapeBytes } from "@dragoman/core";
import type { ArgumentText, ByteSlice } from "@dragoman/core";

const NO_ARGUMENTS: ByteSlice = { bytes: Buffer.from("{}"), start: 0, end: 2 };

/** The source of one JSON object, or null where the arguments are none. Blank text is a call without arguments. */
export function readArguments({ text, encoded }: ArgumentText): ByteSlice | null {
  const bytes = bytesOf(text, encoded);
  if (Buffer.from(bytes).toString("latin1").trim() === "") return NO_ARGUMENTS;
  const result = scanRange(bytes, 0, bytes.length, { duplicates: "last-wins" });
  if (!result.ok || !result.document.isObject(result.document.root)) return null;
  return result.document.raw(result.document.root);
}

function bytesOf(text: ArgumentText["text"], isEncoded: boolean): Uint8Array {
  if (typeof text === "string") return Buffer.from(text, "utf8");
  if (!isSlice(text)) return Buffer.from(JSON.stringify(text.value) ?? "null", "utf8");
  return isEncoded ? unescapeBytes(text) : text.bytes.subarray(text.start, text.end);
}
