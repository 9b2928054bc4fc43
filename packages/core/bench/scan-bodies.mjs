// Bodies for the scanner benchmarks: chat of several sizes with escapes and some non-ASCII text, tool schemas, one base64 image.

const SENTENCE =
  "The caller asked for a summary of the quarterly report; it should name the risks, the open questions and the next steps.\n";
const ACCENTED = "Größere Änderungen wären übermäßig — „naïve“ café, 日本語のテキスト。\n";

/** A chat request of about `size` bytes. */
export function chatBody(size) {
  const messages = [{ role: "system", content: "You are a helpful assistant. Answer briefly." }];
  const body = { model: "gpt-5-mini", messages, temperature: 0.7, max_tokens: 512, stream: true };
  const share = Math.min(Math.max(size >> 2, 120), 1500);
  let left = size - JSON.stringify(body).length;
  for (let turn = 0; left > 60; turn++) {
    let content = "";
    while (content.length < Math.min(share, left - 45))
      content += content.length % 700 === 0 && turn > 0 ? ACCENTED : SENTENCE;
    const message = {
      role: turn % 2 === 0 ? "user" : "assistant",
      content: content.slice(0, Math.max(10, Math.min(share, left - 40))),
    };
    messages.push(message);
    left -= Buffer.byteLength(JSON.stringify(message)) + 1;
  }
  return Buffer.from(JSON.stringify(body));
}

/** Tool definitions of about `size` bytes: many short names and strings. */
export function toolsBody(size) {
  const tools = [];
  for (let i = 0, length = 0; length < size; i++) {
    const parameters = {
      type: "object",
      properties: {
        path: { type: "string", description: `The path of file ${i}` },
        limit: { type: "integer", minimum: 1, maximum: 1000, default: 20 },
        mode: { type: "string", enum: ["read", "write", "append"] },
        filters: {
          type: "array",
          items: { type: "object", properties: { key: { type: "string" }, value: { type: ["string", "null"] } } },
        },
      },
      required: ["path", "mode"],
      additionalProperties: false,
    };
    const tool = {
      type: "function",
      function: { name: `tool_${i}`, description: "Does one thing to a file.", parameters, strict: true },
    };
    tools.push(tool);
    length += JSON.stringify(tool).length + 1;
  }
  return Buffer.from(JSON.stringify({ model: "gpt-5-mini", tools }));
}

/** A message with one base64 image of about `size` bytes. */
export function imageBody(size) {
  const data = Buffer.from(
    Uint8Array.from({ length: Math.floor((size * 3) / 4) }, (_, i) => (i * 197 + (i >> 7)) & 255),
  ).toString("base64");
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } };
  return Buffer.from(JSON.stringify({ model: "gpt-5-mini", messages: [{ role: "user", content: [image] }] }));
}

/** All bodies of the table, by name. */
export function allBodies() {
  return [
    ["0.2 KB chat", chatBody(200)],
    ["1 KB chat", chatBody(1024)],
    ["4 KB chat", chatBody(4096)],
    ["16 KB chat", chatBody(16_384)],
    ["100 KB chat", chatBody(102_400)],
    ["1 MB chat", chatBody(1_048_576)],
    ["100 KB tool schemas", toolsBody(102_400)],
    ["1 MB base64 image", imageBody(1_048_576)],
  ];
}
