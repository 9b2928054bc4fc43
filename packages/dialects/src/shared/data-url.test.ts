import { describe, expect, test } from "vitest";

import { concat, SegmentWriter, textToString } from "@dragoman/core";

import { isDataUrl, splitDataUrl, writeDataUrl } from "./data-url.ts";

const slice = (text: string): { readonly bytes: Buffer; readonly start: number; readonly end: number } => {
  const bytes = Buffer.from(`__${text}__`);
  return { bytes, start: 2, end: bytes.length - 2 };
};

describe("splitDataUrl", () => {
  test.each([
    ["data:image/png;base64,AAAA", "image/png", "AAAA"],
    [String.raw`data:IMAGE\/JPG;base64,A\/A`, "image/jpeg", "A/A"],
    ["DATA:text/plain;charset=utf-8;base64,YQ==", "text/plain", "YQ=="],
    ["data:;base64,YQ==", "", "YQ=="],
  ])("%s", (url, mime, data) => {
    for (const text of [slice(url), url.replaceAll("\\/", "/")]) {
      const split = splitDataUrl(text);
      expect(split === null ? null : [split.mime, textToString(split.data)]).toEqual([mime, data]);
    }
  });

  test.each(["https://a.test/x", "data:text/plain,hello", "data:image/png;base64", "", "data:"])(
    "gives nothing for %s",
    (url) => {
      expect([splitDataUrl(slice(url)), splitDataUrl(url)]).toEqual([null, null]);
    },
  );

  test("references the data where it stands", () => {
    const url = slice("data:image/png;base64,AAAA");
    expect(splitDataUrl(url)?.data).toMatchObject({ bytes: url.bytes, end: url.end });
    expect(isDataUrl(url)).toBe(true);
  });

  test("is the opposite of writing", () => {
    const writer = new SegmentWriter();
    writeDataUrl(writer, "image/png", slice("AAAA"));
    expect(Buffer.from(concat(writer.finish())).toString()).toBe('"data:image/png;base64,AAAA"');
  });
});
