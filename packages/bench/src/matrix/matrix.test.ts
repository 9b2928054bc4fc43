// The matrix is data: its invariants, and that what is rendered from it is what a client would send.
import { describe, expect, it } from "vitest";

import type { ScenarioId } from "../contract/cell.ts";
import { STREAM_CONTENT_EVENTS } from "../mock/answers.ts";
import { RequestReader, type ReadRequest } from "../mock/request-reader.ts";
import { CONTROL_TARGET } from "../relay/control-target.ts";
import { createExternalTarget } from "../external/external-target.ts";
import { CELLS, selectCells } from "./cells.ts";
import { directTraffic } from "./direct-traffic.ts";
import {
  answerParts,
  directScenario,
  prepareRequests,
  requestOf,
  unsupportedReason,
  type Receiver,
} from "./prepare-requests.ts";
import { requestBody } from "./request-bodies.ts";
import { partsOf, SCENARIOS } from "./scenarios.ts";

const RECEIVER: Receiver = {
  traffic: directTraffic,
  authority: "gateway:80",
  context: { mockHost: "127.0.0.1", mockPort: 1 },
  rejectionStatuses: [401],
};
const SINGLE = (Object.keys(SCENARIOS) as ScenarioId[]).filter((id): id is Exclude<ScenarioId, "M1"> => id !== "M1");

describe("cells", () => {
  it("are the published ones with their loads", () => {
    const loads = CELLS.map(({ id, scenario, load, latency, windows }) => {
      const rate = load.kind === "rate" ? load.rps : load.kind === "closed" ? `c${load.connections}` : load.kind;
      return `${id} ${scenario} ${rate} ${latency} ${windows.warmUpSeconds}+${windows.measureSeconds} x${windows.repetitions}`;
    });
    expect(loads).toEqual([
      "H1 S1 5000 L0 10+30 x5",
      "C1 S1 10000 L0 5+15 x3",
      "C2 S1 1000 L0 5+15 x3",
      "C4 S4 5000 L0 5+15 x3",
      "C5 S2 1000 L0 5+15 x3",
      "C8 S3 1000 LS 5+15 x3",
      "C11 S1 ladder L0 5+7 x1",
      "C13 M1 ladder L0 5+7 x1",
      "C16 S1 idle L0 5+15 x3",
      "C17 S1 5000 L1500 5+15 x3",
      "C20 S1 5000 L1500 10+30 x5",
      "C21.401 S8 20000 L0 5+15 x3",
      "C21.404 S8-404 20000 L0 5+15 x3",
      "C32.c64 S1 c64 L0 5+15 x3",
      "X1 X1 1000 L0 5+15 x3",
    ]);
  });

  it("are chosen by identifier or family, in the order of the matrix", () => {
    expect(selectCells(["C32", "H1", "C21"]).map(({ id }) => id)).toEqual(["H1", "C21.401", "C21.404", "C32.c64"]);
    expect(selectCells([])).toBe(CELLS);
    expect(() => selectCells(["H1", "C99"])).toThrow("there is no cell C99");
  });
});

describe("scenarios", () => {
  it("have mixes of whole scenarios that add up", () => {
    for (const scenario of Object.values(SCENARIOS)) {
      expect(partsOf(scenario).reduce((sum, { weight }) => sum + weight, 0)).toBe(100);
      for (const part of partsOf(scenario)) expect(part.scenario.mix).toBeUndefined();
    }
  });

  it.each([
    { id: "S1" as const, least: 900, most: 1300 },
    { id: "S2" as const, least: 200 * 1024, most: 210 * 1024 },
    { id: "S4" as const, least: 900, most: 1300 },
    { id: "S6" as const, least: 9000, most: 20_000 },
  ])("$id has a body of its class", ({ id, least, most }) => {
    const bytes = Buffer.byteLength(requestBody(id, "model"));
    expect(bytes).toBeGreaterThanOrEqual(least);
    expect(bytes).toBeLessThanOrEqual(most);
  });

  it.each(SINGLE)("%s renders to one well-formed request with the receiver's model", (id) => {
    const [prepared] = prepareRequests(SCENARIOS[id], RECEIVER);
    const requests: ReadRequest[] = [];
    const reader = new RequestReader({
      onRequest: (request) => void requests.push(request),
      onContinue: () => undefined,
      onBroken: () => expect.unreachable(),
    });
    reader.feed(Buffer.from(prepared?.bytes ?? "", "base64"));
    expect(requests).toHaveLength(1);
    const body = JSON.parse(Buffer.concat(requests[0]?.body ?? []).toString()) as { model: string };
    expect(body.model).toBe(directTraffic.model(SCENARIOS[id].route));
    expect(requests[0]?.head).toContain("host: gateway:80");
    expect(requests[0]?.target).toBe(directTraffic.path(SCENARIOS[id].dialect));
  });

  it("expect a rejection only by the statuses the probe saw, and 200 otherwise", () => {
    expect(prepareRequests(SCENARIOS.S8, RECEIVER)[0]?.okStatuses).toEqual([401]);
    expect(prepareRequests(SCENARIOS.S1, RECEIVER)[0]?.okStatuses).toEqual([200]);
    expect(prepareRequests(SCENARIOS.M1, RECEIVER)).toHaveLength(6);
  });

  it("send the accepted form of a rejected request straight to the mock", () => {
    expect(directScenario(SCENARIOS.S8)).toMatchObject({ credential: "good", expect: "answer" });
    expect(directScenario(SCENARIOS["S8-404"])).toMatchObject({ route: "openai", expect: "answer" });
    expect(directScenario(SCENARIOS.S3)).toBe(SCENARIOS.S3);
  });

  it("space only streams by the latency script", () => {
    expect(answerParts(SCENARIOS.S3, STREAM_CONTENT_EVENTS)).toBe(STREAM_CONTENT_EVENTS);
    expect(answerParts(SCENARIOS.S1, STREAM_CONTENT_EVENTS)).toBe(1);
  });
});

describe("targets of this room's neighbours", () => {
  it("leave out what a blind relay cannot do, with the reason", () => {
    const reason = (id: ScenarioId): string | undefined =>
      unsupportedReason(SCENARIOS[id], CONTROL_TARGET.unsupported, CONTROL_TARGET.traffic);
    expect(reason("S8")).toBe("a blind relay checks no key");
    expect(reason("S1")).toBeUndefined();
    expect(reason("M1")).toBeUndefined();
    const noEmbeddings = {
      ...directTraffic,
      path: (dialect: string) => (dialect === "openai-embeddings" ? undefined : "/x"),
    };
    expect(unsupportedReason(SCENARIOS.M1, {}, noEmbeddings)).toBe("does not speak openai-embeddings");
  });

  it("speak to an external gateway with the user's key and models", async () => {
    const options = {
      "external.key": "sk-1",
      "external.model": "m",
      "external.command": "serve --port {port} --up {mockHost}:{mockPort}",
    };
    const target = createExternalTarget(options);
    const receiver = { ...RECEIVER, traffic: target.traffic };
    expect(requestOf(SCENARIOS.S1, receiver).headers["authorization"]).toBe("Bearer sk-1");
    expect(requestOf({ ...SCENARIOS.S4, credential: "absent" }, receiver).headers["x-api-key"]).toBeUndefined();
    expect(requestOf(SCENARIOS.S8, receiver).headers["authorization"]).not.toContain("sk-1");
    const plan = target.plan({
      executable: "",
      listenHost: "h",
      listenPort: 8,
      mockHost: "u",
      mockPort: 9,
      workDirectory: "/x",
      cores: 1,
      options,
    });
    expect(plan).toMatchObject({ kind: "process", args: ["-c", "exec serve --port 8 --up u:9"] });
    expect(await target.locate({ environment: {}, options: {} })).toMatchObject({ found: false });
    expect(createExternalTarget({}).checksKey).toBe(false);
  });
});
