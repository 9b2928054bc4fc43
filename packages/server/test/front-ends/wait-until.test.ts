// An exchange that outlives its client on a host that freezes idle processes: the host is told when it is over, not before.
import { expect, it } from "vitest";

import { createGateway } from "../../src/create-gateway.ts";
import { fetchGateway } from "../../src/fetch/index.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { buildStackConfig } from "../harness/stack-config.ts";
import { until } from "../harness/until.ts";

it("waitUntil's promise stays open while the usage of a left answer is read, and ends with its outcome", async () => {
  const upstream = await createScriptedUpstream();
  const gateway = await createGateway(buildStackConfig(upstream.url));
  const order: string[] = [];
  gateway.events.on("outcome", ({ isClientGone, attempts }) =>
    order.push(`outcome: ${isClientGone ? "left" : "stayed"}, ${attempts[0]?.rule ?? "nothing"}`),
  );
  const handler = fetchGateway(gateway, {
    principal: { id: "ada" },
    waitUntil: (work) => void work.then(() => order.push("over")),
  });
  const response = await handler(
    new Request("http://host.test/v1/messages", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "messages/scripted-text:stall-after-6",
        max_tokens: 9,
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
    }),
  );
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  expect(upstream.calls.at(-1)?.ended).toBeNull();
  upstream.release();
  await until(() => order.length === 2, "the end of the exchange");
  expect(order).toEqual(["outcome: left, after_disconnect", "over"]);
  await upstream.close();
  await gateway.close();
});
