/** Sorts the parts of a message into what Ollama has places for: texts, which become one string, and images. */
import { isEmptyText, textToString } from "@dragoman/core";
import type { FilePart, ImagePart, Part, SearchResultPart, Text } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";

/** Content that can be written. */
export interface Content {
  readonly texts: readonly Text[];
  /** Base64 without a media type. */
  readonly images: readonly Text[];
  readonly isEmpty: boolean;
}

/** Sorts parts; what has no place becomes an issue. */
export function sortContent(encoding: Encoding, parts: readonly Part[], at: string): Content {
  const sorter = new ContentSorter(encoding);
  for (const part of parts) sorter.add(part);
  return sorter.finish(at);
}

class ContentSorter {
  readonly #encoding: Encoding;
  readonly #texts: Text[] = [];
  readonly #images: Text[] = [];
  #isReordered = false;

  constructor(encoding: Encoding) {
    this.#encoding = encoding;
  }

  add(part: Part): void {
    const { issues } = this.#encoding;
    if (part.cacheBreakpoint !== undefined) issues.drop("cache_hint", part.at, "Ollama caches prefixes by itself.");
    this.#encoding.dropExtensions(part.extensions);
    switch (part.type) {
      case "text":
      case "refusal":
        this.#text(part.text);
        return;
      case "image":
        this.#image(part);
        return;
      case "file":
        this.#file(part);
        return;
      case "search-result":
        this.#searchResult(part);
        return;
      case "audio":
        issues.reject("audio_input_unsupported", part.at, "Ollama takes no sound.");
        return;
      case "video":
        issues.reject("video_input_unsupported", part.at, "Ollama takes no video.");
        return;
      case "server-tool":
        issues.reject("server_tool_unsupported", part.at, "What another provider's tools did cannot be replayed.");
        return;
      case "opaque":
        issues.drop("unknown_field", part.at, `Ollama has no content of the type ${part.blockType}.`);
        return;
      case "reasoning":
      case "tool-call":
      case "tool-result":
        // Messages write these themselves.
        return;
    }
  }

  finish(at: string): Content {
    const { issues } = this.#encoding;
    const texts = this.#texts.filter((text) => !isEmptyText(text));
    if (this.#texts.length > 1 && texts.length < this.#texts.length)
      issues.adapt("empty_text_removed", at, "Empty texts beside others are left out.");
    if (texts.length > 1) issues.adapt("text_joined", at, "Ollama takes one text a message.");
    if (this.#isReordered) issues.adapt("content_reshaped", at, "Images stand beside the text, not in it.");
    return { texts, images: this.#images, isEmpty: texts.length === 0 && this.#images.length === 0 };
  }

  #text(text: Text): void {
    if (this.#images.length > 0) this.#isReordered = true;
    this.#texts.push(text);
  }

  #image({ media, detail, at }: ImagePart): void {
    const { issues, target } = this.#encoding;
    if (detail !== undefined && detail !== "auto")
      issues.drop("image_detail_unsupported", at, "Ollama has no levels of detail.");
    if (!target.capabilities.input.image) issues.reject("image_input_unsupported", at, "The model sees no images.");
    else if (media.from === "url") issues.reject("media_url_unsupported", at, "Ollama loads nothing from URLs.");
    else if (media.from !== "base64")
      issues.reject("file_reference_foreign", at, "A file at another provider cannot be named here.");
    else {
      issues.adapt("media_adapted", at, "Ollama finds out the type of an image by itself.");
      this.#images.push(media.data);
    }
  }

  /** Documents that are text go as text, with what is known of them above it. */
  #file({ media, title, filename, context, citations, at }: FilePart): void {
    const { issues } = this.#encoding;
    if (media.from === "file-ref") {
      issues.reject("file_reference_foreign", at, "A file at another provider cannot be named here.");
      return;
    }
    if (media.from !== "text") {
      issues.reject("file_input_unsupported", at, "Ollama reads no documents.");
      return;
    }
    if (citations === true) issues.drop("citations_unsupported", at, "Ollama cites no documents.");
    issues.adapt("media_adapted", at, "A text document is sent as text.");
    this.#heading("Title", title ?? filename);
    this.#heading("Context", context);
    this.#text(media.text);
  }

  #searchResult({ source, title, content, citations, at }: SearchResultPart): void {
    const { issues } = this.#encoding;
    if (citations === true) issues.drop("citations_unsupported", at, "Ollama cites no search results.");
    issues.adapt("media_adapted", at, "A search result is sent as text.");
    this.#heading("Title", title);
    this.#heading("Source", source);
    for (const inner of content) this.add(inner);
  }

  #heading(name: string, text: Text | undefined): void {
    if (text !== undefined) this.#text(`${name}: ${textToString(text)}`);
  }
}
