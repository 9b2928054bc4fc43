import { afterEach, describe, expect, it, vi } from "vitest";

import { withClosing } from "./with-closing.ts";

afterEach(() => vi.restoreAllMocks());

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const listeners = (): number[] => SIGNALS.map((signal) => process.listenerCount(signal));

function openThing(): { closed: number; close: () => Promise<void> } {
  const thing = {
    closed: 0,
    close: async (): Promise<void> => {
      await Promise.resolve();
      thing.closed += 1;
    },
  };
  return thing;
}

describe("what a command works with", () => {
  it("is closed when the work is done, and the signals are as before", async () => {
    const before = listeners();
    const thing = openThing();
    expect(await withClosing(thing, () => Promise.resolve(7))).toBe(7);
    expect(thing.closed).toBe(1);
    expect(listeners()).toEqual(before);
  });

  it("is closed when the work fails, whose error is passed on", async () => {
    const before = listeners();
    const thing = openThing();
    await expect(withClosing(thing, () => Promise.reject(new Error("void")))).rejects.toThrow("void");
    expect(thing.closed).toBe(1);
    expect(listeners()).toEqual(before);
  });

  it.each(SIGNALS)("is closed on %s before the process ends by it, and failing work says nothing", async (signal) => {
    const before = listeners();
    const thing = openThing();
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    let failWork: (error: Error) => void = () => undefined;
    const settled = vi.fn<() => void>();
    void withClosing(thing, () => new Promise((_, reject) => (failWork = reject))).then(settled, settled);
    process.emit(signal, signal);
    failWork(new Error("the mock has ended"));
    await vi.waitFor(() => expect(kill).toHaveBeenCalledWith(process.pid, signal));
    expect(thing.closed).toBe(1);
    expect(settled).not.toHaveBeenCalled();
    expect(listeners()).toEqual(before);
  });
});
