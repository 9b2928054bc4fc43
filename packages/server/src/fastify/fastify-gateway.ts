// A gateway as a Fastify plugin. It is encapsulated: that its routes have no body parsers and take over their replies
// concerns no other route of the host.

import type { FastifyInstance, FastifyPluginOptions, FastifyReply, FastifyRequest } from "fastify";

import { identifyBy, readBasePath, stripBasePath } from "../embedding/index.ts";
import type { EmbeddedGateway, PrincipalSource } from "../embedding/index.ts";
import { MountedGateway } from "../http/index.ts";
import type { MountOptions } from "../http/index.ts";

/** Options of the plugin, beside Fastify's own `prefix`. */
export interface FastifyGatewayOptions extends FastifyPluginOptions, MountOptions {
  readonly gateway: EmbeddedGateway;
  /** Who is calling; without it the keys of the configuration decide. */
  readonly principal?: PrincipalSource<FastifyRequest>;
}

/**
 * The plugin for Fastify 5: `app.register(fastifyGateway, { gateway, prefix: "/llm" })`. Hooks of the host run before it, up to
 * `preHandler`, and headers that they set on the reply are sent.
 */
export function fastifyGateway(instance: FastifyInstance, options: FastifyGatewayOptions, done: () => void): void {
  const { gateway, principal } = options;
  const mount = new MountedGateway(gateway, options);
  const basePath = readBasePath(instance.prefix);
  const identify = principal === undefined ? null : identifyBy(principal);

  // The gateway reads bodies itself, bounded, and only after it knows who is calling.
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));

  const handler = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    const { raw } = reply;
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
    const { rawBody } = request as { readonly rawBody?: unknown };
    if (rawBody instanceof Uint8Array) Object.assign(request.raw, { rawBody });
    mount.accept(request.raw, raw, {
      target: stripBasePath(request.raw.url ?? "", basePath),
      authenticate: identify === null ? null : () => identify(request),
    });
  };
  instance.all("/", handler);
  instance.all("/*", handler);
  done();
}
