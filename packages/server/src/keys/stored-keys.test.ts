import { MemoryLedgerStore, type KeyDirectory, type StoredKey } from "@dragoman/ledger";
import type { KeyRecord, Logger } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { SILENT_LOGGER } from "../ports/index.ts";
import { logHiddenKeys, StoredKeyRing } from "./stored-key-ring.ts";
import { StoredKeys } from "./stored-keys.ts";

const NOW_MS = 1_780_000_000_000;
const hash = (digit: string): string => digit.repeat(64);

const key = (name: string, digit: string, more: Partial<StoredKey> = {}): StoredKey => ({
  id: `key_${name.padEnd(16, "0")}`,
  name,
  secrets: [{ hash: hash(digit), untilMs: null }],
  owner: "team",
  tags: ["t"],
  models: ["chat"],
  debug: true,
  trusted: false,
  limits: [],
  createdMs: 0,
  expiresMs: null,
  revokedMs: null,
  ...more,
});

/** A store that can be down, a clock that is driven by hand, and what was logged. */
function rig() {
  const store = new MemoryLedgerStore();
  const log: string[] = [];
  const changes: KeyDirectory[] = [];
  const timers: (() => void)[] = [];
  const state = { isDown: false, loads: 0 };
  const say =
    (level: string): Logger["info"] =>
    (_fields, message) =>
      log.push(`${level}: ${message}`);
  const keys = new StoredKeys({
    store: {
      revision: () => (state.isDown ? Promise.reject(new Error("gone")) : store.keys.revision()),
      load: () => {
        state.loads += 1;
        return store.keys.load();
      },
    },
    clock: {
      schedule: (_delayMs, callback) => {
        timers.push(callback);
        return { cancel: () => timers.splice(timers.indexOf(callback), 1) };
      },
    },
    logger: { ...SILENT_LOGGER, info: say("info"), warn: say("warn"), error: say("error") },
    onChange: (directory) => changes.push(directory),
  });
  /** Lets the next question be asked and answered. */
  const poll = async (): Promise<void> => {
    timers.shift()?.();
    await keys.refresh();
    await new Promise(setImmediate);
  };
  return { store: store.keys, keys, log, changes, timers, state, poll };
}

describe("StoredKeys", () => {
  it("knows a key with all that its principal needs, and nobody else", async () => {
    const { store, keys } = rig();
    await store.create(key("app", "a"));
    await keys.start();
    expect(keys.find(hash("a"), NOW_MS)).toEqual({
      id: "key_app0000000000000",
      owner: "team",
      tags: ["t"],
      models: ["chat"],
      debug: true,
      isTrusted: false,
    });
    expect(keys.find(hash("b"), NOW_MS)).toBeNull();
  });

  it.each([
    { name: "an expired key", more: { expiresMs: NOW_MS }, before: true },
    { name: "a secret behind its grace", more: { secrets: [{ hash: hash("a"), untilMs: NOW_MS }] }, before: true },
    {
      name: "a key that expires in the grace of its secret",
      more: { expiresMs: NOW_MS, secrets: [{ hash: hash("a"), untilMs: NOW_MS + 5 }] },
      before: true,
    },
    { name: "a revoked key", more: { revokedMs: NOW_MS + 5 }, before: false },
  ])("refuses $name", async ({ more, before }) => {
    const { keys } = rig();
    const directory = { revision: 1, keys: [key("app", "a", more)], owners: [] };
    const only = new StoredKeys({
      store: { revision: async () => 1, load: async () => directory },
      clock: { schedule: () => ({ cancel: () => undefined }) },
      logger: SILENT_LOGGER,
    });
    await only.start();
    expect(only.find(hash("a"), NOW_MS - 1) !== null).toBe(before);
    expect(only.find(hash("a"), NOW_MS)).toBeNull();
    keys.stop();
  });

  it("keeps both secrets of a rotated key until the grace of the old one is over", async () => {
    const { store, keys } = rig();
    await store.create(key("app", "a"));
    await store.rotate("app", hash("b"), NOW_MS + 1000);
    await keys.start();
    const known = (nowMs: number): readonly boolean[] =>
      ["a", "b"].map((digit) => keys.find(hash(digit), nowMs) !== null);
    expect([known(NOW_MS), known(NOW_MS + 1000)]).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  it("sees a change with the next question, and loads only then", async () => {
    const { store, keys, changes, state, poll } = rig();
    await store.create(key("app", "a"));
    await keys.start();
    await poll();
    expect(state.loads).toBe(1);
    await store.revoke("app", NOW_MS);
    expect(keys.find(hash("a"), NOW_MS)).not.toBeNull();
    await poll();
    expect([keys.find(hash("a"), NOW_MS), state.loads, changes.length]).toEqual([null, 2, 2]);
  });

  it("lets the last known keys hold while the store is down, says so once, and catches up when it is back", async () => {
    const { store, keys, log, state, poll } = rig();
    await store.create(key("app", "a"));
    await keys.start();
    state.isDown = true;
    await poll();
    await poll();
    await store.create(key("new", "b"));
    expect([keys.find(hash("a"), NOW_MS) !== null, keys.find(hash("b"), NOW_MS), keys.isUp]).toEqual([
      true,
      null,
      false,
    ]);
    state.isDown = false;
    await poll();
    expect([keys.find(hash("b"), NOW_MS) !== null, keys.isUp]).toEqual([true, true]);
    expect(log).toEqual([
      "error: the store of keys cannot be read; the last known keys hold",
      "info: the store of keys can be read again",
    ]);
  });

  it("starts without keys when the store is down, and finds them later", async () => {
    const { store, keys, state, poll } = rig();
    await store.create(key("app", "a"));
    state.isDown = true;
    await keys.start();
    expect(keys.find(hash("a"), NOW_MS)).toBeNull();
    state.isDown = false;
    await poll();
    expect(keys.find(hash("a"), NOW_MS)).not.toBeNull();
  });

  it("asks no more once it is stopped", async () => {
    const { keys, timers } = rig();
    await keys.start();
    expect(timers).toHaveLength(1);
    keys.stop();
    expect(timers).toHaveLength(0);
    await keys.refresh();
    expect(timers).toHaveLength(0);
  });
});

describe("StoredKeyRing", () => {
  const configured = (more: Partial<KeyRecord> = {}): ReadonlyMap<string, KeyRecord> =>
    new Map([
      [
        hash("a"),
        {
          id: "file",
          hash: hash("a"),
          owner: null,
          tags: [],
          models: ["*"],
          debug: false,
          isTrusted: false,
          limits: [],
          isDisabled: false,
          expiresMs: null,
          ...more,
        },
      ],
    ]);

  it("finds the keys of both", async () => {
    const { store, keys } = rig();
    await store.create(key("app", "b"));
    await keys.start();
    const ring = new StoredKeyRing(configured(), keys);
    expect(["a", "b", "c"].map((digit) => ring.authenticate(hash(digit), NOW_MS)?.id)).toEqual([
      "file",
      "key_app0000000000000",
      undefined,
    ]);
  });

  it.each([
    ["holds", {}, "file"],
    ["holds where it says no", { isDisabled: true }, undefined],
  ])("lets the configuration's key of a hash that is in both: it %s", async (_name, more, expected) => {
    const { store, keys, log } = rig();
    await store.create(key("app", "a"));
    await keys.start();
    const records = configured(more);
    expect(new StoredKeyRing(records, keys).authenticate(hash("a"), NOW_MS)?.id).toBe(expected);
    logHiddenKeys(records, keys, { warn: (fields, message) => log.push(`${String(fields["key"])}: ${message}`) });
    expect(log).toEqual(["file: a key of the configuration is also in the store; the configuration's holds"]);
  });
});
