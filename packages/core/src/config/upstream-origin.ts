/** Base URLs of providers: checked once and taken apart into what a socket and a request line need. Nothing of a client gets in. */

/** Address of an upstream, compiled from configuration; a client never influences it. */
export interface UpstreamOrigin {
  readonly protocol: "http:" | "https:";
  /** Host name or address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of the Host header (RFC 9112 §3.2). */
  readonly authority: string;
  /** Identity for connection pools. */
  readonly key: string;
}

/** A base URL taken apart; `basePath` is empty or starts with `/`, and never ends with one. */
export type BaseUrlReading =
  | { readonly ok: true; readonly origin: UpstreamOrigin; readonly basePath: string }
  | { readonly ok: false; readonly message: string };

const refuse = (message: string): BaseUrlReading => ({ ok: false, message });

const withSuffix = (path: string, suffix: string): string => (path.endsWith(suffix) ? path : path + suffix);

/**
 * Reads a provider's base URL and appends the path that its kind needs, unless it is there already. Messages do not repeat the
 * URL, since a password may have been put into it by mistake.
 */
export function readBaseUrl(text: string, requiredSuffix: string): BaseUrlReading {
  if (/[\s\\]/.test(text)) return refuse("a base URL holds no white space and no backslash");
  if (!URL.canParse(text)) return refuse('must be an absolute URL such as "https://llm.example.com/v1"');
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("must start with https:// or http://");
  if (url.username !== "" || url.password !== "")
    return refuse("must not hold a user name or password; use credentials");
  if (text.includes("?")) return refuse("must not have a query; static headers and options are members of their own");
  if (text.includes("#")) return refuse("must not have a fragment");
  if (url.pathname.includes("//")) return refuse("must not have an empty path segment (//)");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (port === 0) return refuse("must not name port 0");
  const origin: UpstreamOrigin = {
    protocol: url.protocol,
    host: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port,
    authority: url.host,
    key: `${url.protocol}//${url.hostname}:${port}`,
  };
  return { ok: true, origin, basePath: withSuffix(url.pathname.replace(/\/$/, ""), requiredSuffix) };
}
