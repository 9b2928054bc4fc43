/** What the holder of a trusted key says about the request: whose it is, and further labels for the account. */
import { findHeader, type HeaderList } from "../dialect/index.ts";
import type { NeutralError } from "../ir/index.ts";
import { invalidRequest } from "./failures.ts";

/** Names of the two fields. */
const USER = "x-dragoman-user";
const TAGS = "x-dragoman-tags";

const USER_NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;
const TAG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Most tags of one request. */
export const MAX_NAMED_TAGS = 16;

/** What was said; null and an empty list where nothing was. */
export interface TrustedNames {
  readonly endUser: string | null;
  readonly tags: readonly string[];
}

/** Reads the fields, or says what is wrong with them. */
export function readTrustedNames(headers: HeaderList): TrustedNames | NeutralError {
  const user = findHeader(headers, USER)?.trim() ?? "";
  if (user !== "" && !USER_NAME.test(user))
    return invalidRequest(`The header ${USER} must be at most 256 printable ASCII characters.`);
  const tags = (findHeader(headers, TAGS) ?? "")
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  if (tags.length > MAX_NAMED_TAGS || !tags.every((tag) => TAG.test(tag)))
    return invalidRequest(
      `The header ${TAGS} must be at most ${MAX_NAMED_TAGS} names of letters, digits and . _ -, separated by commas.`,
    );
  return { endUser: user === "" ? null : user, tags };
}
