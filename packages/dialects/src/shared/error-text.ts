// What error texts of upstreams say where no code says it. Wordings are not contractual: codes are matched first, and each match of a
// text is counted by the caller as `error_text_match`.

const CONTEXT_LENGTH_TEXTS: readonly RegExp[] = [
  /context_length_exceeded/i,
  /maximum context length/i,
  /prompt is too long/i,
  /input length and .max_tokens. exceed context limit/i,
  /input token count .{0,200} exceeds the maximum number of tokens/i,
  /exceeds the (?:model'?s )?context (?:window|length)/i,
  /input is too long for requested model/i,
  /please reduce the length of the (?:messages|prompt)/i,
];

const TOO_MANY_TOKENS = /too many tokens/i;

/** Longest text that is searched; an upstream may send anything. */
const MAX_SEARCHED_LENGTH = 8_192;

/** Whether an error text says that the request is longer than the model's context window. */
export function isContextLengthText(message: string, status: number | undefined): boolean {
  const text = message.length > MAX_SEARCHED_LENGTH ? message.slice(0, MAX_SEARCHED_LENGTH) : message;
  if (status === 400 && TOO_MANY_TOKENS.test(text)) return true;
  return CONTEXT_LENGTH_TEXTS.some((pattern) => pattern.test(text));
}

const SPENDING_TEXT =
  /credit balance|insufficient balance|spend(?:ing)? limit|billing|out of credits|exceeded your current quota/i;

/** Whether an error text says that the account behind the credential has no money or quota left. */
export function isSpendingText(message: string): boolean {
  return SPENDING_TEXT.test(message.length > MAX_SEARCHED_LENGTH ? message.slice(0, MAX_SEARCHED_LENGTH) : message);
}
