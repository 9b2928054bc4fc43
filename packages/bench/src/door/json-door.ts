// What the bench's own HTTP doors, an agent's and the mock's control, have in common: small bodies in, JSON out. Only this package's
// clients call them.
import type { IncomingMessage, ServerResponse } from "node:http";

const MAX_BODY_BYTES = 1024 * 1024;

/** The whole body as text. Rejects beyond 1 MiB. */
export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error("the body is too large");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

/** Answers with a value as JSON. */
export function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Answers with what a call comes to, or with 400 and what it says is wrong. */
export function answerWhenDone(response: ServerResponse, call: Promise<unknown>): void {
  call.then(
    (body) => answer(response, 200, body),
    (error: unknown) => answer(response, 400, { error: error instanceof Error ? error.message : "failed" }),
  );
}
