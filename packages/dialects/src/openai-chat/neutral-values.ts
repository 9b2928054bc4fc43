// Values that say nothing because they are the dialect's defaults: they count as absent.
import { ABSENT } from "@dragoman/core";
import type { Document, NodeIndex } from "@dragoman/core";

type Question = (document: Document, value: NodeIndex) => boolean;

const isZero: Question = (document, value) => document.isNumber(value) && document.number(value) === 0;
const isOne: Question = (document, value) => document.isNumber(value) && document.number(value) === 1;
const isFalse: Question = (document, value) => document.isBoolean(value) && !document.boolean(value);
const isTrue: Question = (document, value) => document.boolean(value);
const isEmptyList: Question = (document, value) => document.isArray(value) && document.count(value) === 0;
const isEmptyObject: Question = (document, value) => document.isObject(value) && document.count(value) === 0;
const isWord =
  (word: string): Question =>
  (document, value) =>
    document.stringEquals(value, word);

const isTextOnly: Question = (document, value) =>
  document.isArray(value) && document.count(value) === 1 && document.stringEquals(document.firstElement(value), "text");

const isTextFormat: Question = (document, value) => document.stringEquals(document.member(value, "type"), "text");

/** Without tools, forbidding them says nothing; with tools, leaving the choice to the model says nothing. */
const isDefaultChoice: Question = (document, value) => {
  const tools = document.member(document.root, "tools");
  const functions = document.member(document.root, "functions");
  const hasTools = document.count(tools) > 0 || document.count(functions) > 0;
  return document.stringEquals(value, hasTools ? "auto" : "none");
};

const NEUTRAL: Readonly<Record<string, Question>> = {
  n: isOne,
  presence_penalty: isZero,
  frequency_penalty: isZero,
  logit_bias: isEmptyObject,
  logprobs: isFalse,
  top_logprobs: isZero,
  stop: isEmptyList,
  store: isFalse,
  stream: isFalse,
  parallel_tool_calls: isTrue,
  tools: isEmptyList,
  functions: isEmptyList,
  tool_choice: isDefaultChoice,
  function_call: isDefaultChoice,
  verbosity: isWord("medium"),
  service_tier: isWord("auto"),
  response_format: isTextFormat,
  modalities: isTextOnly,
  metadata: isEmptyObject,
};

/** Whether a request member has a value that counts as absent. Null always does. */
export function isNeutralMember(document: Document, name: string, value: NodeIndex): boolean {
  if (value === ABSENT || document.isNull(value)) return true;
  const question = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
  return question?.(document, value) ?? false;
}
