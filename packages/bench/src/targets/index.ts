// The compared products, each in the configurations that take part. Order is the order of tables and of the rotation.
import type { Target } from "../contract/target.ts";
import { BIFROST, BIFROST_DEFAULTS } from "./bifrost.ts";
import { DRAGOMAN, DRAGOMAN_PROD } from "./dragoman.ts";
import { LITELLM, LITELLM_DEFAULTS } from "./litellm.ts";
import { PORTKEY } from "./portkey.ts";
import { HAPROXY, NGINX } from "./reverse-proxies.ts";

/** Every compared target of this package. */
export const COMPARED_TARGETS: readonly Target[] = [
  DRAGOMAN,
  DRAGOMAN_PROD,
  BIFROST,
  BIFROST_DEFAULTS,
  LITELLM,
  LITELLM_DEFAULTS,
  PORTKEY,
  NGINX,
  HAPROXY,
];
