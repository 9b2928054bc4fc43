/**
 * A fall-back between two providers written by hand over the vendors' SDKs: ask one, and on a failure the other. It is what most
 * services start with. README.md beside it lists what it does not do.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

/** Where the two providers are; both speak HTTP on this address. */
export interface Providers {
  readonly url: string;
  readonly first: string;
  readonly second: string;
}

/** Streams an answer to one question, piece by piece. */
export async function* askByHand(question: string, providers: Providers): AsyncGenerator<string> {
  const openai = new OpenAI({ baseURL: `${providers.url}/v1`, apiKey: "first-credential", maxRetries: 1 });
  let hasBegun = false;
  try {
    const stream = await openai.chat.completions.create({
      model: providers.first,
      messages: [
        { role: "system", content: "Answer briefly." },
        { role: "user", content: question },
      ],
      stream: true,
    });
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content ?? "";
      if (text === "") continue;
      hasBegun = true;
      yield text;
    }
    return;
  } catch (error) {
    // Half an answer cannot be taken back: a second source now would repeat or contradict it.
    if (hasBegun) throw error;
    // A request that the first provider calls invalid is not made valid by another one.
    if (error instanceof OpenAI.BadRequestError) throw error;
  }
  const anthropic = new Anthropic({ baseURL: providers.url, apiKey: "second-credential", maxRetries: 1 });
  const stream = anthropic.messages.stream({
    model: providers.second,
    max_tokens: 1024,
    system: "Answer briefly.",
    messages: [{ role: "user", content: question }],
  });
  for await (const event of stream)
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") yield event.delta.text;
}
