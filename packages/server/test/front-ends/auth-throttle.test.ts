// Failed authentications over real connections: which client a front end says they come from.
import { afterAll, beforeAll, expect, it } from "vitest";

import { startStack } from "../harness/stack.ts";
import type { InProcessStack } from "../harness/stack.ts";

let stack: InProcessStack;
beforeAll(async () => {
  stack = await startStack({
    server: { trustedProxies: ["127.0.0.0/8", "::1"], authThrottle: { failures: 2, per: "1h" } },
  });
});
afterAll(() => stack.close());

const ask = async (key: string, client: string | null): Promise<number> => {
  const headers = { authorization: `Bearer ${key}`, ...(client === null ? {} : { "x-forwarded-for": client }) };
  const response = await fetch(`${stack.url}/v1/models`, { headers });
  await response.arrayBuffer();
  return response.status;
};

it("counts by the client that a trusted proxy names, and lets its valid keys through", async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) statuses.push(await ask("dgm_wrong", "192.0.2.1"));
  expect(statuses).toEqual([401, 401, 429]);
  expect(await ask("dgm_wrong", "192.0.2.2")).toBe(401);
  expect(await ask("dgm_wrong", "203.0.113.9, 192.0.2.1")).toBe(429);
  expect(await ask(stack.key, "192.0.2.1")).toBe(200);
});

it("counts by the connection where no proxy says anything", async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) statuses.push(await ask("dgm_wrong", null));
  expect(statuses).toEqual([401, 401, 429]);
});
