/**
 * Whose address a request comes from. Only what a trusted proxy says is believed: `X-Forwarded-For` is read from its end, and the last
 * address that is no trusted proxy is the client. Everything before it may be the client's own invention. `Forwarded` (RFC 7239) is not
 * read: a proxy that sets only one of the two lets a client send the other.
 */
import { isIP } from "node:net";

import { findHeaders, type HeaderList } from "@dragoman/core";

import type { AddressSet } from "./trusted-proxies.ts";

/** Hops that are looked at; the client of a longer chain is the last of them. */
const MAX_HOPS = 32;

/** The client's address; null where the front end knows none. */
export function findClientAddress(
  remoteAddress: string | null,
  headers: HeaderList,
  trusted: AddressSet,
): string | null {
  if (remoteAddress === null || !trusted.has(remoteAddress)) return remoteAddress;
  const hops = findHeaders(headers, "x-forwarded-for")
    .flatMap((value) => value.split(","))
    .slice(-MAX_HOPS);
  let client = remoteAddress;
  for (const hop of hops.toReversed()) {
    const address = readHop(hop.trim());
    // Nobody can say who is behind a hop that is no address.
    if (address === null) return client;
    client = address;
    if (!trusted.has(address)) return client;
  }
  return client;
}

const IPV4_AND_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;
const IPV6_IN_BRACKETS = /^\[([0-9A-Fa-f:.]{2,45})\](?::\d{1,5})?$/;

/** An address, as some proxies write it with a port. */
function readHop(text: string): string | null {
  const address = IPV4_AND_PORT.exec(text)?.[1] ?? IPV6_IN_BRACKETS.exec(text)?.[1] ?? text;
  return isIP(address) === 0 || address.includes("%") ? null : address;
}
