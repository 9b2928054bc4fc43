// Walks the tour: asks at every stop, checks the expectations, and reports. A stop that fails does not end the walk.
import type { ScriptedUpstream } from "../scripted-upstream/index.ts";
import { heading, paletteFor } from "./text-layout.ts";
import type { TextOutput } from "./text-layout.ts";
import { sendTourRequest } from "./tour-client.ts";
import { writeLostStep, writeStep } from "./tour-report.ts";
import type { TourStep } from "./tour-steps.ts";

/** Where the tour asks, and where it reports. */
export interface TourVisit {
  readonly output: TextOutput;
  readonly gatewayUrl: string;
  readonly key: string;
  readonly upstream: ScriptedUpstream;
}

/** Walks all stops; true when every expectation held. */
export async function walkTour(visit: TourVisit, steps: readonly TourStep[]): Promise<boolean> {
  let failures = 0;
  for (const [index, step] of steps.entries()) if (!(await visitStep(visit, index + 1, step))) failures += 1;
  const palette = paletteFor(visit.output);
  const verdict =
    failures === 0
      ? palette.good(`All ${steps.length} stops went as expected.`)
      : palette.bad(`${failures} of ${steps.length} stops did not go as expected.`);
  visit.output.write(`\n${heading("Result", palette)}   ${verdict}\n\n`);
  return failures === 0;
}

async function visitStep(visit: TourVisit, number: number, step: TourStep): Promise<boolean> {
  const { output, upstream } = visit;
  const known = upstream.calls.length;
  let answer;
  try {
    answer = await sendTourRequest(visit.gatewayUrl, visit.key, step.request);
  } catch (error) {
    writeLostStep(output, number, step, error);
    return false;
  }
  const calls = upstream.calls.slice(known);
  const expectations = step.check(answer, calls);
  writeStep(output, { number, step, answer, calls, expectations });
  return expectations.every((each) => each.holds);
}
