/** From usage to cost. */
export { cardOf, costOfUsage } from "./usage-cost.ts";
export { worstCost } from "./worst-cost.ts";
