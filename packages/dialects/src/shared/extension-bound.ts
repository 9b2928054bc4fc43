// The bound on members without a neutral place: a translation accounts for each of them, so their number must not be the client's
// choice alone. Forwarded requests are not decoded and have no such bound.

/** Members of one request that only its own dialect has; one more and it is not translated. */
export const MAX_EXTENSIONS = 20_000;

/** What a client is told at the member that is one too many. */
export const TOO_MANY_EXTENSIONS: string = `A request that is translated has at most ${MAX_EXTENSIONS} members that only its own dialect knows, and this is one more.`;
