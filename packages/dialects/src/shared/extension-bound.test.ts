import { scan } from "@dragoman/core";
import type { Document } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { BodyReader } from "../anthropic/body-reader.ts";
import { RequestReader } from "../openai-chat/request-reader.ts";
import { MAX_EXTENSIONS, TOO_MANY_EXTENSIONS } from "./extension-bound.ts";

function objectOf(count: number): Document {
  const result = scan(Buffer.from(`{${Array.from({ length: count }, (_, index) => `"x${index}":1`).join(",")}}`));
  if (!result.ok) throw new Error(result.error.message);
  return result.document;
}

const READERS = [
  {
    name: "the chat dialect",
    read: (document: Document) => {
      const reader = new RequestReader(document);
      const found = reader.unknownMembers(document.root, new Set(), "");
      return { found, error: reader.error };
    },
  },
  {
    name: "the messages dialect",
    read: (document: Document) => {
      const reader = new BodyReader(document);
      const found = reader.extensions(document.root, "", { known: new Set(), codes: {} });
      return { found, error: reader.error };
    },
  },
];

describe.each(READERS)("a request of $name", ({ read }) => {
  it("may have as many members of its own as the bound says", () => {
    const { found, error } = read(objectOf(MAX_EXTENSIONS));
    expect(found).toHaveLength(MAX_EXTENSIONS);
    expect(error).toBeNull();
  });

  it("is refused at the member past it, and no more are collected", () => {
    const { found, error } = read(objectOf(MAX_EXTENSIONS + 100));
    expect(found).toHaveLength(MAX_EXTENSIONS + 1);
    expect(error).toMatchObject({ class: "invalid-request", origin: "client", param: `x${MAX_EXTENSIONS}` });
    expect(error?.message).toContain(TOO_MANY_EXTENSIONS);
  });
});
