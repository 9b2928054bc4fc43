// The control relay as a target of the rotation. It forwards blindly, so it checks no key and rejects nothing.
import type { Target } from "../contract/target.ts";
import { packageEntry } from "../package-entry.ts";
import { directTraffic } from "../matrix/direct-traffic.ts";

/** The bare Node relay that runs in every rotation as the control. */
export const CONTROL_TARGET: Target = {
  id: "control",
  label: "control relay (bare Node)",
  profile: "blind",
  kind: "control",
  checksKey: false,
  warmUpRequests: 2000,
  notes: ["A blind TCP relay: it does none of a gateway's work and stands for the machine's floor in this run."],
  unsupported: {
    S8: "a blind relay checks no key",
    "S8-404": "a blind relay knows no models",
    X1: "a blind relay translates nothing",
  },
  traffic: directTraffic,
  locate: async () => ({ found: true, executable: process.execPath, version: process.version, versionNote: undefined }),
  plan: ({ executable, listenHost, listenPort, mockHost, mockPort }) => ({
    kind: "process",
    command: executable,
    args: [packageEntry("relay/process-entry"), listenHost, String(listenPort), mockHost, String(mockPort)],
    environment: {},
    files: [],
    ready: { path: "/v1/models", timeoutMs: 10_000 },
    settleMs: 200,
    workers: 1,
  }),
};
