// Puts a mock together: server, latency agenda, faults and log, with the control over them.
import type { Server } from "node:net";

import { monotonicUs } from "../clock/monotonic.ts";
import { createTicker, type CreateAlarm } from "../clock/ticker.ts";
import type { LatencyProfileId } from "../contract/cell.ts";
import { Agenda } from "./agenda.ts";
import { CallLog } from "./call-log.ts";
import type { MockControl } from "./control-server.ts";
import { FaultPlan } from "./faults.ts";
import { LATENCY_PROFILES } from "./latency-profiles.ts";
import { createMockServer, type MockState } from "./mock-server.ts";

/** A mock of this process; the caller listens on `server`. */
export interface LocalMock {
  readonly server: Server;
  readonly control: MockControl;
  close(): void;
}

/** Creates a mock with the profile L0 and no faults. */
export function createMock(createAlarm: CreateAlarm = createTicker, now: () => number = monotonicUs): LocalMock {
  const state: MockState = {
    profile: LATENCY_PROFILES.L0,
    faults: new FaultPlan(),
    log: new CallLog(),
    agenda: new Agenda(now, createAlarm),
    now,
  };
  return {
    server: createMockServer(state),
    control: {
      setProfile: async (id) => {
        state.profile = profileOf(id);
      },
      arm: async (faults) => state.faults.arm(faults),
      resetCalls: async (isDetailed) => state.log.reset(isDetailed),
      counts: async () => state.log.counts,
      details: async () => state.log.details,
    },
    close: () => state.agenda.close(),
  };
}

function profileOf(id: LatencyProfileId): (typeof LATENCY_PROFILES)[LatencyProfileId] {
  const profile = LATENCY_PROFILES[id] as (typeof LATENCY_PROFILES)[LatencyProfileId] | undefined;
  if (profile === undefined) throw new Error(`there is no latency profile ${id}`);
  return profile;
}
