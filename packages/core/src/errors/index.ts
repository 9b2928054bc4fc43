/** Errors as a stable table of codes, and the one class that is thrown. */
export { ERROR_CODES } from "./codes.ts";
export type { ErrorCode, ErrorCodeEntry, ErrorFault } from "./codes.ts";
export { GatewayError, isGatewayError } from "./gateway-error.ts";
export type { GatewayErrorOptions } from "./gateway-error.ts";
