import { describe, expect, it } from "vitest";

import { findAuthentication, findWorkers } from "./traps.ts";

const answers = (
  goodKeyStatus: number | undefined,
  noKeyStatus: number | undefined,
  unknownKeyStatus: number | undefined,
  isEnforced: boolean,
): Parameters<typeof findAuthentication>[1] => [
  { authentication: { goodKeyStatus, noKeyStatus, unknownKeyStatus, isEnforced }, workers: undefined },
];

describe("findAuthentication", () => {
  it.each([
    {
      name: "an enforced key",
      checksKey: true,
      evidence: answers(200, 401, 403, true),
      text: /^a key is checked on every request \(good key 200, no key 401, unknown key 403\)$/,
      isWarning: false,
    },
    {
      name: "a key that should be enforced",
      checksKey: true,
      evidence: answers(200, 200, 401, false),
      text: /NOT enforced/,
      isWarning: true,
    },
    {
      name: "a target without keys",
      checksKey: false,
      evidence: answers(200, 200, 200, false),
      text: /^answers without a key, so it does less work/,
      isWarning: true,
    },
    {
      name: "a target that answered nothing",
      checksKey: true,
      evidence: answers(undefined, undefined, undefined, false),
      text: /^not shown/,
      isWarning: true,
    },
    {
      name: "a target that serves nobody",
      checksKey: true,
      evidence: answers(500, 401, 401, false),
      text: /^not shown/,
      isWarning: true,
    },
    { name: "a target that was never probed", checksKey: true, evidence: [], text: /^not shown/, isWarning: true },
  ])("labels $name", ({ checksKey, evidence, text, isWarning }) => {
    const finding = findAuthentication({ checksKey }, evidence);
    expect(finding.text).toMatch(text);
    expect(finding.isWarning).toBe(isWarning);
  });

  it("believes the one repetition that was open, not the others", () => {
    const evidence = [...answers(200, 401, 401, true), ...answers(200, 200, 401, false)];
    expect(findAuthentication({ checksKey: true }, evidence).isWarning).toBe(true);
  });
});

describe("findWorkers", () => {
  const seen = (
    cores: number,
    configured: number | undefined,
    processes: number,
    threads: number,
  ): Parameters<typeof findWorkers>[0] => [
    { authentication: undefined, workers: { cores, configured, processes, threads } },
  ];

  it.each([
    {
      name: "a worker per core",
      evidence: seen(4, 4, 5, 20),
      text: /^4 workers; 5 processes and 20 threads seen on 4 cores$/,
      isWarning: false,
    },
    {
      name: "a forgotten worker count",
      evidence: seen(4, 1, 1, 10),
      text: /1 worker for 4 cores: it cannot use them all/,
      isWarning: true,
    },
    {
      name: "workers that did not start",
      evidence: seen(4, 4, 1, 2),
      text: /4 workers configured but only 1 process and 2 threads/,
      isWarning: true,
    },
    { name: "a default", evidence: seen(4, undefined, 1, 8), text: /left to its default: 1 process/, isWarning: false },
    { name: "nothing seen", evidence: [], text: /^not seen$/, isWarning: false },
  ])("labels $name", ({ evidence, text, isWarning }) => {
    const finding = findWorkers(evidence);
    expect(finding.text).toMatch(text);
    expect(finding.isWarning).toBe(isWarning);
  });

  it("counts the repetition with the fewest processes", () => {
    expect(findWorkers([...seen(4, 4, 5, 5), ...seen(4, 4, 1, 1)]).isWarning).toBe(true);
  });
});
