/** The plan of a request with every verdict, without sending anything. */
import type { Snapshot } from "../config/index.ts";
import type { HeaderList, Issue } from "../dialect/index.ts";
import type { NeutralError } from "../ir/index.ts";
import { scan } from "../json/index.ts";
import { chooseDialect, orderByWeight } from "../route/index.ts";
import { isOnlyAccount, makeTarget } from "./encode-target.ts";
import type { Engine } from "./engine.ts";
import { invalidRequest, jsonFailure, unknownModel, unknownRoute } from "./failures.ts";

/** A request to explain. */
export interface ExplainRequest {
  /** Client dialect id. */
  readonly dialect: string;
  readonly body: Uint8Array;
  readonly headers?: HeaderList;
  /** A route of the dialect; by default its first one that generates. */
  readonly path?: string;
}

/** What would become of the request at one deployment. */
export interface Verdict {
  readonly deployment: string;
  readonly provider: string;
  readonly model: string;
  readonly tier: number;
  /** The dialect that it would be sent in; null where it speaks none that fits. */
  readonly dialect: string | null;
  readonly isForward: boolean;
  readonly verdict: "ok" | "adapted" | "refused";
  readonly issues: readonly Issue[];
  /** Set while the deployment rests. */
  readonly retryAfterMs: number | null;
  /** Size of the upstream body in bytes, where there would be one. */
  readonly bodyBytes: number | null;
}

/** The verdict on every deployment in the order of the plan, or why there is no plan. */
export type Explanation =
  | { readonly ok: true; readonly model: string; readonly generation: number; readonly plan: readonly Verdict[] }
  | { readonly ok: false; readonly error: NeutralError };

/** Explains a request against a snapshot. Deployments come in the order in which this plan would try them. */
export function explainRequest(engine: Engine, snapshot: Snapshot, request: ExplainRequest): Explanation {
  const client = engine.registry.client(request.dialect);
  if (client === undefined) {
    const known = engine.registry.clients.map(({ id }) => id).join(", ");
    return { ok: false, error: invalidRequest(`There is no client dialect "${request.dialect}"; known are ${known}.`) };
  }
  const headers = request.headers ?? [];
  const path = request.path ?? client.routes.find((route) => route.operation === "generate")?.path ?? "";
  const routed = engine.registry.route("POST", path, "", headers);
  if (!routed.found || routed.client.id !== client.id) return { ok: false, error: unknownRoute("POST") };
  const scanned = scan(request.body);
  if (!scanned.ok) return { ok: false, error: jsonFailure(scanned.error) };
  const reading = client.readHead(scanned.document, routed.match);
  if (!reading.ok) return { ok: false, error: reading.error };
  const { head } = reading;
  const model = snapshot.findModel(head.model);
  if (model === null) return { ok: false, error: unknownModel(head.model) };
  const decoded = client.decodeRequest(scanned.document, head, routed.match, headers);
  const { operation } = routed.match;
  if (operation === "list-models" || operation === "get-model") return { ok: false, error: unknownRoute("POST") };
  const order = model.tiers.flatMap((tier) => orderByWeight(tier, () => engine.ports.random.next()));
  const isSole = isOnlyAccount(model.tiers);
  const nowMs = engine.ports.clock.nowMs();
  const plan = order.map((deployment): Verdict => {
    const provider = chooseDialect(deployment, client.id, operation, engine.registry);
    const isForward = provider?.id === client.id;
    const common = {
      deployment: deployment.id,
      provider: deployment.provider.id,
      model: deployment.model,
      tier: deployment.tier,
      dialect: provider?.id ?? null,
      isForward,
      retryAfterMs: engine.health.deployment(deployment).unavailable(nowMs)?.retryAfterMs ?? null,
    };
    if (provider === null) return { ...common, verdict: "refused", issues: [], bodyBytes: null };
    const target = makeTarget(deployment, provider, isSole);
    if (!isForward && !decoded.ok) return { ...common, verdict: "refused", issues: [], bodyBytes: null };
    const result =
      isForward || !decoded.ok
        ? provider.forwardRequest(scanned.document, head, operation, headers, target)
        : provider.encodeRequest(decoded.request, target);
    if (!result.ok) return { ...common, verdict: "refused", issues: result.issues, bodyBytes: null };
    return {
      ...common,
      verdict: result.issues.length === 0 ? "ok" : "adapted",
      issues: result.issues,
      bodyBytes: result.encoded.body.byteLength,
    };
  });
  return { ok: true, model: model.name, generation: snapshot.generation, plan };
}
