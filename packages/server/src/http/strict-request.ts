// What node:http's strict mode still lets through and this front end refuses: everything that a second parser could read
// differently. A pure function over the head; whoever calls it closes the connection after a refusal.

import type { HeaderList } from "@dragoman/core";

import type { RefusalCode } from "./refusal.ts";
import { findTargetProblem, pathOf, queryOf } from "./request-target.ts";

/** The parts of a head that are checked. */
export interface RequestHead {
  readonly method: string;
  readonly versionMajor: number;
  readonly versionMinor: number;
  readonly target: string;
  readonly headers: HeaderList;
}

/** A head that is served, or why not. */
export type HeadCheck =
  | {
      readonly ok: true;
      readonly path: string;
      readonly query: string;
      /** From `content-length`, or null. */
      readonly contentLength: number | null;
      /** Whether body bytes follow the head. */
      readonly hasBody: boolean;
      /** Whether the client waits for `100 Continue` (RFC 9110 §10.1.1). */
      readonly expectsContinue: boolean;
    }
  | { readonly ok: false; readonly status: number; readonly code: RefusalCode; readonly message: string };

/** uri-host [":" port] (RFC 9112 §3.2), without the sub-delims and escapes that no real host name has. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[0-9a-z._~-]+)(?::\d{1,5})?$/i;
/** Fifteen digits stay exact in a double. */
const LENGTH = /^\d{1,15}$/;
/** field-vchar, SP and HTAB; obs-text is legal but opaque (RFC 9110 §5.5). */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Fields that matter for framing, gathered in one pass. */
interface FramingFields {
  hosts: number;
  host: string;
  lengths: number;
  length: string;
  codings: number;
  coding: string;
  expectation: string | null;
  upgrade: string | null;
  hasBadValue: boolean;
}

/** Checks a head; `maxHeaderCount` bounds its fields. */
export function checkRequestHead(head: RequestHead, maxHeaderCount: number): HeadCheck {
  const { versionMajor, versionMinor } = head;
  const isOld = versionMinor === 0;
  // llhttp reports a request line without a version as 0.9 and then reads headers and a body behind it.
  if (versionMajor !== 1 || versionMinor > 1) return refuse(400, "The HTTP version must be 1.1 or 1.0.");
  if (head.headers.length > maxHeaderCount * 2) return refuse(431, "The request has too many header fields.");

  if (head.method === "CONNECT") return refuse(400, "CONNECT is not served.");

  const fields = gatherFields(head.headers);
  if (fields.hasBadValue) return refuse(400, "A header field's value has a control character.");
  const framingProblem = findFramingProblem(fields, isOld);
  if (framingProblem !== null) return refuse(400, framingProblem);
  const targetProblem = findTargetProblem(head.target);
  if (targetProblem !== null) return refuse(400, targetProblem);

  const path = pathOf(head.target);
  // HTTP/1.0 knows no expectations (RFC 9110 §10.1.1).
  const expectation = isOld ? null : fields.expectation;
  if (expectation !== null && expectation.toLowerCase() !== "100-continue")
    return refuse(417, "The only expectation that is met is 100-continue.");
  if (fields.upgrade !== null) {
    // Clients that open a WebSocket first go on with POST at once after 426, but not after another status.
    if (head.method === "GET" && path === "/v1/responses")
      return refuse(426, "WebSockets are not served here; use POST.");
    return refuse(400, "WebSockets are not served.");
  }
  const contentLength = fields.lengths === 0 ? null : Number(fields.length);
  const hasBody = fields.codings > 0 || (contentLength !== null && contentLength > 0);
  const query = queryOf(head.target);
  return { ok: true, path, query, contentLength, hasBody, expectsContinue: expectation !== null && hasBody };
}

function findFramingProblem(fields: FramingFields, isOld: boolean): string | null {
  if (fields.hosts > 1 || (fields.hosts === 0 && !isOld)) return "The request must have exactly one Host field.";
  if (fields.hosts === 1 && !HOST.test(fields.host)) return "The Host field is not a host with an optional port.";
  if (fields.codings > 0) {
    if (isOld) return "HTTP/1.0 has no transfer codings.";
    if (fields.lengths > 0) return "Content-Length and Transfer-Encoding exclude each other.";
    if (fields.codings > 1 || fields.coding !== "chunked") return "The only transfer coding is one 'chunked'.";
  }
  if (fields.lengths > 1) return "The request must have at most one Content-Length field.";
  if (fields.lengths === 1 && !LENGTH.test(fields.length)) return "Content-Length is not a number of bytes.";
  return null;
}

function gatherFields(headers: HeaderList): FramingFields {
  const fields: FramingFields = {
    hosts: 0,
    host: "",
    lengths: 0,
    length: "",
    codings: 0,
    coding: "",
    expectation: null,
    upgrade: null,
    hasBadValue: false,
  };
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (!FIELD_VALUE.test(value)) fields.hasBadValue = true;
    gatherField(fields, name, value);
  }
  return fields;
}

/** Looks at a name's length first, so that most fields cost no lower-casing. */
function gatherField(fields: FramingFields, name: string, value: string): void {
  switch (name.length) {
    case 4:
      if (name.toLowerCase() !== "host") return;
      fields.hosts += 1;
      fields.host = value;
      return;
    case 6:
      if (name.toLowerCase() !== "expect") return;
      fields.expectation = fields.expectation === null ? value : `${fields.expectation}, ${value}`;
      return;
    case 7:
      // Any other protocol, such as the h2c that Java's client offers, is simply not taken (RFC 9110 §7.8).
      if (name.toLowerCase() === "upgrade" && /websocket/i.test(value)) fields.upgrade = value;
      return;
    case 14:
      if (name.toLowerCase() !== "content-length") return;
      fields.lengths += 1;
      fields.length = value;
      return;
    case 17:
      if (name.toLowerCase() !== "transfer-encoding") return;
      fields.codings += 1;
      fields.coding = value;
      return;
    default:
  }
}

/** A head that is not served: the client's fault. */
export function refuse(status: number, message: string): HeadCheck {
  return { ok: false, status, code: "invalid_request", message };
}
