import { describe, expect, it } from "vitest";

import type { Deployment } from "../config/index.ts";
import type { Issue } from "../dialect/index.ts";
import type { RefusedDeployment } from "../route/index.ts";
import { refusePlan } from "./refusal.ts";

const refused = (id: string, ...issues: readonly Issue[]): RefusedDeployment => ({
  deployment: { id } as unknown as Deployment,
  issues,
});
const SEED: Issue = { code: "seed_unsupported", path: "/seed", severity: "drop", detail: "" };
const NONE: Issue = { code: "capability_missing", path: "", severity: "reject", detail: "" };
const ADAPTED: Issue = { code: "value_adapted", path: "/x", severity: "adapt", detail: "" };

describe("refusePlan", () => {
  it("lists what stands against the request, each list once, without deployments", () => {
    const error = refusePlan([refused("a", SEED, ADAPTED), refused("b", SEED), refused("c", NONE)], false);
    expect(error).toMatchObject({
      class: "no-deployment",
      origin: "client",
      code: "unsupported_request",
      retrySame: false,
      fallback: false,
    });
    expect(error.message).toBe("No deployment can serve this request: seed_unsupported (/seed); capability_missing");
    expect(error.details).toEqual({ issues: [SEED, SEED, NONE].map(({ code, path }) => ({ code, path })) });
  });

  it("names deployments to those who may see them", () => {
    expect(refusePlan([refused("a", SEED), refused("b", SEED)], true).message).toContain(
      "a: seed_unsupported (/seed); b: seed_unsupported (/seed)",
    );
  });
});
