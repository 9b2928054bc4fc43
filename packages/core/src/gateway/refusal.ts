/** The error of a request that no deployment can express: codes and paths, with deployment names only where the caller may see them. */
import type { Issue } from "../dialect/index.ts";
import type { NeutralError } from "../ir/index.ts";
import type { RefusedDeployment } from "../route/index.ts";

const describe = (issues: readonly Issue[]): string =>
  issues
    .filter((issue) => issue.severity !== "adapt")
    .map((issue) => (issue.path === "" ? issue.code : `${issue.code} (${issue.path})`))
    .join(", ");

/** Builds the 400 that lists what stands against each deployment. */
export function refusePlan(refused: readonly RefusedDeployment[], showsDeployments: boolean): NeutralError {
  const reasons = refused.map(({ deployment, issues }) =>
    showsDeployments ? `${deployment.id}: ${describe(issues)}` : describe(issues),
  );
  const list = [...new Set(reasons)].join("; ");
  return {
    class: "no-deployment",
    origin: "client",
    message: `No deployment can serve this request: ${list}`,
    code: "unsupported_request",
    retrySame: false,
    fallback: false,
    details: {
      issues: refused.flatMap(({ issues }) =>
        issues.filter((issue) => issue.severity !== "adapt").map(({ code, path }) => ({ code, path })),
      ),
    },
  };
}
