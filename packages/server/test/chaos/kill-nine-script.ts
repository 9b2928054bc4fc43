// `npm run chaos:kill -- [--kills N] [--clients N] [--seed N]`: kills the built gateway N times under load and audits its ledger.
import { parseArgs } from "node:util";

import { runKills } from "./kill-nine.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    clients: { type: "string", default: "16" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
console.log(`seed ${seed}`);
const report = await runKills({
  kills: Number(values.kills),
  clients: Number(values.clients),
  seed,
  maxLifeMs: 600,
  onLife: (life) => {
    if (life % 10 === 0) console.log(`${life} deaths`);
  },
});
const { faults, remainingTokens, ...figures } = report;
console.log(JSON.stringify({ ...figures, remainingTokens }, null, 2));
for (const fault of faults.slice(0, 50)) console.log(`FAULT ${fault}`);
const isRight = faults.length === 0 && remainingTokens.told === remainingTokens.booked;
console.log(isRight ? "every call has its entry" : `${faults.length} faults`);
process.exitCode = isRight ? 0 : 1;
