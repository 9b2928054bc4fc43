// What a front end needs of the gateway that it serves. Every gateway of `createGateway` has it; front ends see no more of one.

import type {
  BodyPool,
  ClientRequest,
  EncodedRefusal,
  HandleOptions,
  HeaderList,
  Logger,
  Responder,
} from "@dragoman/core";

/** The side of a gateway that faces front ends. */
export interface EmbeddedGateway {
  /** Takes one request; what follows goes through the responder. */
  handle(request: ClientRequest, responder: Responder, options?: HandleOptions): void;
  /** Encodes a front end's refusal in the envelope that the path and headers point to. */
  encodeRefusal(status: number, code: string, message: string, path: string, headers: HeaderList): EncodedRefusal;
  /** Whether a request to this raw path is answered with anything but a 404; also true where only another method is served. */
  serves(method: string, path: string): boolean;
  /** Where request bodies are gathered. */
  readonly pool: BodyPool;
  readonly logger: Logger;
}
