import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { NeutralError } from "../ir/index.ts";
import { CREDENTIAL_RETRY_MS, HealthBoard, MAX_MODELS_PER_DEPLOYMENT } from "./health-board.ts";
import type { DeploymentHealth } from "./health.ts";

const OVERLOADED: NeutralError = {
  class: "overloaded",
  origin: "upstream",
  message: "busy",
  retrySame: true,
  fallback: true,
  retryAfterMs: 5_000,
};

function fail(health: DeploymentHealth): void {
  health.fail(health.begin(0), OVERLOADED, 0, 60_000);
}

describe("HealthBoard", () => {
  it("keeps one health for a deployment's upstream model, in whatever model it is used", () => {
    const board = new HealthBoard();
    fail(board.deployment({ id: "a", model: "m" }));
    expect(board.deployment({ id: "a", model: "m" }).unavailable(0)).toMatchObject({ cause: "cooldown" });
    expect(board.deployment({ id: "b", model: "m" }).unavailable(0)).toBeNull();
  });

  it("lets one upstream model of a glob's deployment rest without the others", () => {
    const board = new HealthBoard();
    fail(board.deployment({ id: "main/*", model: "busy" }));
    expect(board.deployment({ id: "main/*", model: "busy" }).unavailable(0)).not.toBeNull();
    expect(board.deployment({ id: "main/*", model: "idle" }).unavailable(0)).toBeNull();
  });

  it("remembers a bounded number of models per deployment and forgets the first", () => {
    const board = new HealthBoard();
    const of = (index: number): DeploymentHealth => board.deployment({ id: "main/*", model: `m${index}` });
    for (let index = 0; index < MAX_MODELS_PER_DEPLOYMENT; index++) fail(of(index));
    expect(of(0).unavailable(0)).not.toBeNull();
    of(MAX_MODELS_PER_DEPLOYMENT);
    expect(of(1).unavailable(0)).not.toBeNull();
    expect(of(0).unavailable(0)).toBeNull();
  });

  it("forgets deployments that no configuration names any more, and keeps the others with all their models", () => {
    const board = new HealthBoard();
    for (const id of ["gone", "main/*"]) for (const model of ["m", "n"]) fail(board.deployment({ id, model }));
    board.retainDeployments((id) => id === "main/*");
    expect(board.deployment({ id: "gone", model: "m" }).unavailable(0)).toBeNull();
    for (const model of ["m", "n"]) expect(board.deployment({ id: "main/*", model }).unavailable(0)).not.toBeNull();
  });

  it("picks credentials in turn and passes over one that was refused, until the next generation or its time", () => {
    const board = new HealthBoard();
    const credentials = [{ id: "x" }, { id: "y" }];
    const pick = (generation: number, nowMs: number): string | undefined =>
      board.pickCredential("p", credentials, generation, nowMs)?.id;
    expect([pick(1, 0), pick(1, 0), pick(1, 0)]).toEqual(["x", "y", "x"]);
    board.markCredentialDead("y", 1, 0);
    expect([pick(1, 0), pick(1, 0)]).toEqual(["x", "x"]);
    expect([pick(1, CREDENTIAL_RETRY_MS), pick(1, CREDENTIAL_RETRY_MS)]).toEqual(["y", "x"]);
    board.markCredentialDead("x", 1, 0);
    board.markCredentialDead("y", 1, 0);
    expect(pick(1, 0)).toBeUndefined();
    expect(pick(2, 0)).toBeDefined();
  });

  it("has none of none", () => {
    expect(new HealthBoard().pickCredential("p", [], 1, 0)).toBeNull();
  });

  it("takes each provider's credentials in a turn of their own", () => {
    const board = new HealthBoard();
    const credentials = [{ id: "x" }, { id: "y" }];
    expect(board.pickCredential("p", credentials, 1, 0)?.id).toBe("x");
    expect(board.pickCredential("q", credentials, 1, 0)?.id).toBe("x");
    expect(board.pickCredential("p", credentials, 1, 0)?.id).toBe("y");
  });

  it("uses living credentials equally, whichever are dead (property)", () => {
    const credentials = ["a", "b", "c", "d"].map((id) => ({ id }));
    fc.assert(
      fc.property(fc.subarray(credentials), (dead) => {
        const board = new HealthBoard();
        for (const { id } of dead) board.markCredentialDead(id, 1, 0);
        const draws = (credentials.length - dead.length) * 10;
        const seen = Array.from({ length: draws }, () => board.pickCredential("p", credentials, 1, 0)?.id);
        for (const { id } of credentials) {
          const expected = dead.some((each) => each.id === id) ? 0 : 10;
          expect(seen.filter((each) => each === id)).toHaveLength(expected);
        }
      }),
    );
  });
});
