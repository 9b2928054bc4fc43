import { describe, expect, it } from "vitest";

import { TaskTracker } from "./task-tracker.ts";

describe("TaskTracker", () => {
  it("is idle at once when nothing runs", async () => {
    const tracker = new TaskTracker(() => undefined);
    await expect(tracker.idle()).resolves.toBeUndefined();
    expect(tracker.size).toBe(0);
  });

  it("is idle for all who wait when the last task ended, not before", async () => {
    const tracker = new TaskTracker(() => undefined);
    const ends: (() => void)[] = [];
    for (let task = 0; task < 2; task++)
      tracker.add(
        "task",
        new Promise((resolve) => {
          ends.push(resolve);
        }),
      );
    const seen: string[] = [];
    const waiting = [tracker.idle().then(() => seen.push("first")), tracker.idle().then(() => seen.push("second"))];
    ends[0]?.();
    await Promise.resolve();
    await Promise.resolve();
    expect([tracker.size, seen]).toEqual([1, []]);
    ends[1]?.();
    await Promise.all(waiting);
    expect([tracker.size, seen]).toEqual([0, ["first", "second"]]);
  });

  it("reports a task that throws once, with its name, and counts it as ended", async () => {
    const failures: unknown[] = [];
    const tracker = new TaskTracker((error, name) => failures.push([name, error]));
    const error = new Error("planned");
    tracker.add("bad", Promise.reject(error));
    tracker.add("good", Promise.resolve());
    await tracker.idle();
    expect(failures).toEqual([["bad", error]]);
  });

  it("ends work that was begun once, however often it is told", async () => {
    const tracker = new TaskTracker(() => undefined);
    const end = tracker.begin();
    const endOther = tracker.begin();
    end();
    end();
    expect(tracker.size).toBe(1);
    endOther();
    await tracker.idle();
    expect(tracker.size).toBe(0);
  });
});
