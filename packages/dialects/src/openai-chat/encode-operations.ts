// Identity, metadata, tiers, storage, caching and state for a chat server.
import { createHash } from "node:crypto";
import { textToString } from "@dragoman/core";
import type { NeutralRequest, ReasonCode, Text } from "@dragoman/core";

import type { ChatEncoding } from "./encoding.ts";

/** Writes identity, metadata, tiers, storage and caching members, and refuses state that lives elsewhere. */
export function encodeOperations(encoding: ChatEncoding): void {
  const { request, issues } = encoding;
  encodeIdentity(encoding);
  if (request.metadata !== undefined && request.metadata.length > 0) encodeMetadata(encoding, request.metadata);
  encodeTier(encoding);
  if (request.store === true) {
    if (encoding.isOwn) encoding.optionalMember("store", "store_unsupported", encoding.originOf("store"))?.glue("true");
    else issues.drop("store_unsupported", encoding.originOf("store"), "Answers are not stored at this provider.");
  }
  encodeCache(encoding);
  refuseState(encoding);
  if (request.betas !== undefined && request.betas.length > 0)
    issues.adapt("beta_ignored", encoding.originOf("betas"), "Beta names of another dialect mean nothing here.");
}

/** Longest end-user id that the vendor takes; a longer one is replaced by its digest. */
const MAX_USER_LENGTH = 64;

function encodeIdentity(encoding: ChatEncoding): void {
  const { request, profile, issues, isOwn } = encoding;
  const { endUser, safetyId } = request.identity;
  if (isOwn && profile.endUserField === "safety_identifier") {
    if (safetyId !== undefined) encoding.member("safety_identifier").token(safetyId);
    if (endUser !== undefined) encoding.member("user").token(endUser);
    return;
  }
  const user = safetyId ?? endUser;
  if (user === undefined) return;
  const at = encoding.originOf(safetyId === undefined ? "endUser" : "safetyId");
  const writer = encoding.optionalMember(profile.endUserField, "end_user_unsupported", at);
  if (writer === null) return;
  const id = textToString(user);
  if (id.length <= MAX_USER_LENGTH) writer.token(user);
  else {
    issues.adapt("value_adapted", at, "The end-user id is longer than the server takes; its digest is sent.");
    writer.string(createHash("sha256").update(id, "utf8").digest("hex"));
  }
}

function encodeMetadata(encoding: ChatEncoding, pairs: readonly (readonly [Text, Text])[]): void {
  const writer = encoding.optionalMember("metadata", "metadata_unsupported", encoding.originOf("metadata"));
  if (writer === null) return;
  pairs.forEach(([key, value], index) =>
    writer
      .glue(index === 0 ? "{" : ",")
      .token(key)
      .glue(":")
      .token(value),
  );
  writer.glue("}");
}

function encodeTier(encoding: ChatEncoding): void {
  const { request, issues, profile } = encoding;
  const tier = request.serviceTier;
  if (request.speed === "fast")
    issues.drop("service_tier_unsupported", encoding.originOf("speed"), "The server has no fast mode of this kind.");
  if (tier === undefined || tier === "auto") return;
  if (profile.serviceTiers.includes(tier))
    encoding.optionalMember("service_tier", "service_tier_unsupported", encoding.originOf("serviceTier"))?.string(tier);
  else if (tier !== "default")
    issues.drop("service_tier_unsupported", encoding.originOf("serviceTier"), "The server has no such tier.");
  else issues.adapt("value_adapted", encoding.originOf("serviceTier"), "The server has one tier.");
}

function encodeCache(encoding: ChatEncoding): void {
  const { request, issues, profile } = encoding;
  const { auto, mode, key, retention, reference, prewarm } = request.cache;
  if (auto !== undefined)
    issues.adapt("cache_automatic", encoding.originOf("cacheAuto"), "The server caches prefixes by itself.");
  if (reference !== undefined)
    issues.reject(
      "cached_content_unsupported",
      encoding.originOf("cacheReference"),
      "Cached content of another provider cannot be named here.",
    );
  if (prewarm === true)
    issues.reject(
      "cache_prewarm_unsupported",
      encoding.originOf("maxOutputTokens"),
      "The server has no call that only fills its cache.",
    );
  const hint = (name: string, member: string): ReturnType<ChatEncoding["optionalMember"]> => {
    if (profile.promptCaching) return encoding.optionalMember(name, "cache_hint", encoding.originOf(member));
    issues.drop("cache_hint", encoding.originOf(member), "The server takes no cache hints.");
    return null;
  };
  if (mode === "explicit") hint("prompt_cache_options", "cacheMode")?.glue('{"mode":"explicit"}');
  if (key !== undefined) hint("prompt_cache_key", "cacheKey")?.token(key);
  if (retention !== undefined) hint("prompt_cache_retention", "cacheRetention")?.string(retention);
}

const STATE_CODES: readonly (readonly [member: keyof NonNullable<NeutralRequest["state"]>, code: ReasonCode])[] = [
  ["previousResponseId", "stateful_unsupported"],
  ["conversation", "stateful_unsupported"],
  ["background", "background_unsupported"],
  ["prompt", "prompt_template_unsupported"],
  ["itemReferences", "stateful_unsupported"],
  ["thread", "stateful_unsupported"],
];

function refuseState(encoding: ChatEncoding): void {
  const { state } = encoding.request;
  if (state === undefined) return;
  for (const [member, code] of STATE_CODES)
    if (state[member] !== undefined && state[member] !== false)
      encoding.issues.reject(
        code,
        encoding.originOf(member),
        "Servers of this dialect keep no state between requests.",
      );
}
