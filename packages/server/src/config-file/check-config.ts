/** What the parts around the engine know to be wrong with a configuration, beside its schema and its compilation. */
import { pointer, type ConfigProblem, type GatewayConfig } from "@dragoman/core";

import { explainBlock } from "../http/trusted-proxies.ts";
import { checkLedger } from "../ledger/check-ledger.ts";

/** Every such problem, at its place in a configuration that the schema takes. */
export function checkConfig(config: GatewayConfig): readonly ConfigProblem[] {
  return [...checkProxies(config.server?.trustedProxies ?? []), ...checkLedger(config)];
}

function checkProxies(blocks: readonly string[]): readonly ConfigProblem[] {
  return blocks.flatMap((block, index) => {
    const message = explainBlock(block);
    return message === null ? [] : [{ path: pointer("/server/trustedProxies", index), message }];
  });
}
