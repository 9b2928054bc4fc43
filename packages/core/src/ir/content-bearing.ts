/** Which events are content: the first of them is the commit point. */
import type { StreamEvent } from "./response.ts";
import { isEmptyText } from "./text.ts";

/** Deltas with a payload, starts of parts that come whole, and a stop (an empty answer is an answer). */
export function isContentBearing(event: StreamEvent): boolean {
  switch (event.type) {
    case "text-delta":
    case "refusal-delta":
    case "reasoning-delta":
    case "arguments-delta":
      return !isEmptyText(event.text);
    case "part-start":
      return event.head.type !== "text" && event.head.type !== "refusal" && event.head.type !== "reasoning";
    case "signature-delta":
    case "citation-delta":
    case "audio-delta":
    case "logprobs-delta":
    case "stop":
      return true;
    case "start":
    case "part-end":
    case "usage":
    case "ping":
    case "error":
    case "end":
      return false;
  }
}
