// Reads what behaviours need to know from a request body of either dialect. Tolerant: a body that is not understood gives an
// empty view, because the upstream must be able to answer anything.
import type { ScriptedDialect } from "./error-envelopes.ts";

/** An instruction of the request and the form in which it came. */
export interface ReceivedInstruction {
  readonly form: "system" | "developer" | "system-member";
  readonly text: string;
}

/** A tool offered by the request. */
export interface ReceivedTool {
  readonly name: string;
  readonly schema: unknown;
}

/** The result of a tool call that the request carries. */
export interface ReceivedToolResult {
  readonly id: string;
  readonly text: string;
}

/** An image of the request; `bytes` is the decoded size, or null for a URL. */
export interface ReceivedImage {
  readonly mediaType: string | null;
  readonly bytes: number | null;
}

/** What a request asks, in one form for both dialects. */
export interface ReceivedRequest {
  readonly dialect: ScriptedDialect;
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly choices: number;
  readonly maxTokens: number | null;
  readonly instructions: readonly ReceivedInstruction[];
  readonly roles: readonly string[];
  readonly lastUserText: string;
  /** Characters of all texts, the base of the input token count. */
  readonly textLength: number;
  readonly stop: readonly string[];
  readonly tools: readonly ReceivedTool[];
  /** The tool that the request forces, if any. */
  readonly forcedTool: string | null;
  readonly toolResults: readonly ReceivedToolResult[];
  readonly images: readonly ReceivedImage[];
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter((each) => isObject(each)) : [];
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The texts of a content member: a string, or the text parts of a list. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return listOf(content)
    .filter((part) => part["type"] === "text")
    .map((part) => stringOf(part["text"]));
}

function decodedSize(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

function imageOfUrl(url: string): ReceivedImage {
  const match = /^data:([^;,]*);base64,/u.exec(url);
  if (match === null) return { mediaType: null, bytes: null };
  return { mediaType: match[1] ?? null, bytes: decodedSize(url.slice(match[0].length)) };
}

function imageOfPart(part: Json): ReceivedImage | null {
  if (part["type"] === "image_url") {
    const image = part["image_url"];
    return imageOfUrl(stringOf(isObject(image) ? image["url"] : image));
  }
  const source = part["source"];
  if (part["type"] !== "image" || !isObject(source)) return null;
  if (source["type"] !== "base64") return { mediaType: null, bytes: null };
  return { mediaType: stringOf(source["media_type"]), bytes: decodedSize(stringOf(source["data"])) };
}

/** The images of a content member, also those inside tool results. */
function imagesOf(content: unknown): ReceivedImage[] {
  return listOf(content).flatMap((part) => {
    if (part["type"] === "tool_result") return imagesOf(part["content"]);
    const image = imageOfPart(part);
    return image === null ? [] : [image];
  });
}

function toolResultsOf(messages: readonly Json[]): ReceivedToolResult[] {
  return messages.flatMap((message) => {
    if (message["role"] === "tool") {
      return [{ id: stringOf(message["tool_call_id"]), text: textsOf(message["content"]).join("\n") }];
    }
    return listOf(message["content"])
      .filter((part) => part["type"] === "tool_result")
      .map((part) => ({ id: stringOf(part["tool_use_id"]), text: textsOf(part["content"]).join("\n") }));
  });
}

/** Tool results count only in the current turn: those behind the last assistant message. */
function currentTurn(messages: readonly Json[]): readonly Json[] {
  return messages.slice(messages.findLastIndex((message) => message["role"] === "assistant") + 1);
}

function instructionsOf(body: Json, messages: readonly Json[]): ReceivedInstruction[] {
  const member = textsOf(body["system"]).map((text): ReceivedInstruction => ({ form: "system-member", text }));
  const inMessages = messages.flatMap((message): ReceivedInstruction[] => {
    const role = message["role"];
    if (role !== "system" && role !== "developer") return [];
    return textsOf(message["content"]).map((text) => ({ form: role, text }));
  });
  return [...member, ...inMessages];
}

function toolsOf(body: Json): ReceivedTool[] {
  return listOf(body["tools"]).map((tool) => {
    const inner = isObject(tool["function"]) ? tool["function"] : tool;
    return { name: stringOf(inner["name"]), schema: inner["parameters"] ?? inner["input_schema"] ?? null };
  });
}

function forcedToolOf(choice: unknown): string | null {
  if (!isObject(choice)) return null;
  const inner = isObject(choice["function"]) ? choice["function"] : choice;
  return typeof inner["name"] === "string" ? inner["name"] : null;
}

function stopOf(body: Json): string[] {
  const stop = body["stop"] ?? body["stop_sequences"];
  if (typeof stop === "string") return [stop];
  return Array.isArray(stop) ? stop.filter((each) => typeof each === "string") : [];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function choicesOf(body: Json): number {
  const asked = numberOf(body["n"]) ?? 1;
  return Number.isInteger(asked) && asked >= 1 && asked <= 16 ? asked : 1;
}

/** Reads a request body; `json` is undefined when the body is not JSON. */
export function readReceivedRequest(dialect: ScriptedDialect, json: unknown): ReceivedRequest {
  const body = isObject(json) ? json : {};
  const messages = listOf(body["messages"]);
  const instructions = instructionsOf(body, messages);
  const users = messages.filter((message) => message["role"] === "user");
  const toolResults = toolResultsOf(currentTurn(messages));
  const texts = [
    ...textsOf(body["system"]),
    ...messages.flatMap((message) => textsOf(message["content"])),
    ...toolResultsOf(messages).map((result) => result.text),
  ];
  const streamOptions = body["stream_options"];
  return {
    dialect,
    model: stringOf(body["model"]),
    stream: body["stream"] === true,
    includeUsage: isObject(streamOptions) && streamOptions["include_usage"] === true,
    choices: dialect === "chat" ? choicesOf(body) : 1,
    maxTokens: numberOf(body["max_completion_tokens"] ?? body["max_tokens"]),
    instructions,
    roles: messages.map((message) => stringOf(message["role"])),
    lastUserText: textsOf(users.at(-1)?.["content"]).join("\n"),
    textLength: texts.reduce((sum, text) => sum + text.length, 0),
    stop: stopOf(body),
    tools: toolsOf(body),
    forcedTool: forcedToolOf(body["tool_choice"]),
    toolResults,
    images: messages.flatMap((message) => imagesOf(message["content"])),
  };
}
