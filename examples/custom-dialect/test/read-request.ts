/**
 * What Ollama understands of a body, after its API reference: the other opinion that the encoder is held against. It knows nothing of
 * the encoder.
 */
import { documentOf } from "@dragoman/dialects/testing";
import type { Document, Message, NeutralRequest, NodeIndex, Num, Part, Reasoning, Tool } from "@dragoman/core";

/** Reads a body of `POST /api/chat`. */
export function readRequest(body: Uint8Array): NeutralRequest {
  const document = documentOf(body);
  const { root } = document;
  const option = (name: string): Num | undefined => {
    const node = document.member(document.member(root, "options"), name);
    return document.isNumber(node) ? document.raw(node) : undefined;
  };
  const temperature = option("temperature");
  const topP = option("top_p");
  const limit = option("num_predict");
  const stop = each(document, document.member(document.member(root, "options"), "stop"));
  const format = document.member(root, "format");
  const reasoning = readThink(document, document.member(root, "think"));
  return {
    source: "ollama",
    operation: "generate",
    model: document.string(document.member(root, "model")),
    stream: document.boolean(document.member(root, "stream")),
    messages: each(document, document.member(root, "messages")).map((node) => readMessage(document, node)),
    tools: each(document, document.member(root, "tools")).map((node) => readTool(document, node)),
    sampling: { ...(temperature && { temperature }), ...(topP && { topP }) },
    ...(limit === undefined ? null : { maxOutputTokens: limit }),
    ...(stop.length === 0 ? null : { stop: stop.map((node) => document.text(node)) }),
    output: document.isString(format)
      ? { format: { kind: "json-object" } }
      : document.isObject(format)
        ? { format: { kind: "json-schema", schema: document.raw(format), schemaDialect: "json-schema" } }
        : {},
    ...(reasoning === null ? null : { reasoning }),
    cache: {},
    identity: {},
    streamOptions: {},
    extensions: [],
  };
}

function each(document: Document, list: NodeIndex): readonly NodeIndex[] {
  const nodes: NodeIndex[] = [];
  for (let node = document.firstElement(list); node >= 0; node = document.nextElement(node)) nodes.push(node);
  return nodes;
}

function readThink(document: Document, node: NodeIndex): Reasoning | null {
  if (document.isString(node)) return { effort: document.string(node) as "low" | "medium" | "high" };
  if (!document.isBoolean(node)) return null;
  return document.boolean(node) ? {} : { mode: "off" };
}

function readTool(document: Document, node: NodeIndex): Tool {
  const body = document.member(node, "function");
  const description = document.member(body, "description");
  const schema = document.member(body, "parameters");
  return {
    kind: "function",
    name: document.text(document.member(body, "name")),
    ...(description < 0 ? null : { description: document.text(description) }),
    ...(schema < 0 ? null : { schema: document.raw(schema) }),
    extensions: [],
    at: "",
  };
}

function readMessage(document: Document, node: NodeIndex): Message {
  const role = document.string(document.member(node, "role"));
  const content = document.member(node, "content");
  const text: readonly Part[] =
    document.end(content) - document.start(content) > 2 ? [{ type: "text", text: document.text(content), at: "" }] : [];
  if (role === "system") return { role: "instruction", parts: text, at: "" };
  if (role === "tool") {
    const callId = document.text(document.member(node, "tool_call_id"));
    return { role: "user", parts: [{ type: "tool-result", callId, content: text, at: "" }], at: "" };
  }
  const images = each(document, document.member(node, "images")).map((image): Part => ({
    type: "image",
    media: { from: "base64", data: document.text(image) },
    at: "",
  }));
  const calls = each(document, document.member(node, "tool_calls")).map((call): Part => {
    const body = document.member(call, "function");
    return {
      type: "tool-call",
      id: document.text(document.member(call, "id")),
      name: document.text(document.member(body, "name")),
      kind: "function",
      arguments: { text: document.raw(document.member(body, "arguments")), encoded: false },
      at: "",
    };
  });
  return { role: role === "assistant" ? "assistant" : "user", parts: [...text, ...images, ...calls], at: "" };
}
