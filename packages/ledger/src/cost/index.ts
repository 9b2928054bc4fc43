/** From usage to cost. */
export { costOfUsage } from "./usage-cost.ts";
export { worstCost } from "./worst-cost.ts";
