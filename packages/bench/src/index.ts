// Public surface of the bench: the records a run leaves behind and the means to read them, the contract of a target, and the matrix.
export type {
  Cell,
  Credential,
  Expectation,
  LatencyProfileId,
  Load,
  ModelRoute,
  Scenario,
  ScenarioId,
  TrafficDialect,
  Windows,
} from "./contract/cell.ts";
export type {
  AuthenticationCheck,
  CellSummary,
  HostInventory,
  LadderStepRecord,
  LoadRecord,
  MetricName,
  OverheadUs,
  PercentilesUs,
  PlannedCell,
  RawHistograms,
  RawRecord,
  RepetitionRecord,
  RunRecord,
  SelfTestCheck,
  SelfTestRecord,
  Spread,
  SummaryRecord,
  TargetRecord,
  UsageRecord,
  WorkerCheck,
} from "./contract/record.ts";
export { RECORD_FORMAT } from "./contract/record.ts";
export type {
  LaunchPlan,
  LocateContext,
  Located,
  PlanContext,
  Readiness,
  Target,
  TargetOptions,
  TargetTraffic,
  TrafficContext,
} from "./contract/target.ts";
export { CELLS } from "./matrix/cells.ts";
export { SCENARIOS } from "./matrix/scenarios.ts";
export { RunStore } from "./store/run-store.ts";
export { TOPOLOGIES, type LadderPlan, type RatePlan, type StepLimits, type Topology } from "./topology/topologies.ts";
