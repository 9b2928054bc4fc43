import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, describe, expect, it } from "vitest";

import { loadHistograms } from "../histogram/histogram.ts";
import { directTraffic } from "../matrix/direct-traffic.ts";
import { measureInside } from "./measure-inside.ts";

beforeAll(loadHistograms);

let close: () => void = () => undefined;
afterEach(() => close());

async function measure(
  answer: (count: number) => { readonly status: number; readonly timing?: string },
): ReturnType<typeof measureInside> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      count += 1;
      const { status, timing } = answer(count);
      response.writeHead(status, timing === undefined ? {} : { "server-timing": timing });
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  close = () => server.close();
  const gateway = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  return measureInside({
    target: { id: "one", traffic: directTraffic },
    gateway,
    upstream: gateway,
    warmUpRequests: 2,
    requests: 10,
  });
}

describe("measureInside", () => {
  it("collects every metric after the warm-up", async () => {
    const rows = await measure((count) => ({
      status: 200,
      timing: count <= 2 ? "gateway;dur=900" : "gateway;dur=0.25, upstream;dur=1.5",
    }));
    expect(rows).toMatchObject([
      { target: "one", metric: "gateway", requests: 10, durationUs: { count: 10, p50: 250, max: 250 } },
      { target: "one", metric: "upstream", requests: 10, durationUs: { count: 10, p50: 1500 } },
    ]);
  });

  it("says that a target sends no timing, without a figure", async () => {
    expect(await measure(() => ({ status: 200 }))).toEqual([
      { target: "one", metric: undefined, requests: 10, durationUs: undefined },
    ]);
  });

  it("fails when a request is refused", async () => {
    await expect(measure(() => ({ status: 401 }))).rejects.toThrow("answered by 401");
  });
});
