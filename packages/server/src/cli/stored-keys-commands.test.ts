import { describe, expect, it } from "vitest";

import { hashKey, StoredKeys } from "../keys/index.ts";
import { SILENT_LOGGER } from "../ports/index.ts";
import { createFakeIo, type FakeIo } from "./fixtures/fake-io.ts";
import { run } from "./run.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");
const HOUR_MS = 3_600_000;
const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;

const keyIn = (text: string): string => /dgm_[0-9A-Za-z]{32}/.exec(text)?.[0] ?? "";

/** Whose key a secret is, as a running gateway sees it. */
async function holderOf(io: FakeIo, secret: string, nowMs = NOW_MS): Promise<string | null> {
  const keys = new StoredKeys({
    store: io.store.keys,
    clock: { schedule: () => ({ cancel: () => undefined }) },
    logger: SILENT_LOGGER,
  });
  await keys.start();
  return keys.find(hashKey(secret).slice("sha256:".length), nowMs)?.id ?? null;
}

/** A process with one key in its store, and that key. */
async function withKey(...more: readonly string[]): Promise<{ readonly io: FakeIo; readonly secret: string }> {
  const io = createFakeIo();
  expect([await run(["keys", "create", "--data", "d", "--name", "app", ...more], io), io.err()]).toEqual([0, ""]);
  return { io, secret: keyIn(io.out()) };
}

describe("dragoman keys create on a ledger", () => {
  it("keeps exactly the key that it prints once, with all that was said of it", async () => {
    const { io, secret } = await withKey(
      "--models=chat, vendor/*",
      "--owner=team-a",
      "--tags=batch",
      "--expires=2027-01-31",
      "--limits=[{ usd: 20, per: day, alertAt: [0.8] }, { parallel: 8 }]",
      "--debug",
      "--trusted",
    );
    const { keys } = await io.store.keys.load();
    expect(keys).toEqual([
      {
        id: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/) as unknown,
        name: "app",
        secrets: [{ hash: hashKey(secret).slice("sha256:".length), untilMs: null }],
        owner: "team-a",
        tags: ["batch"],
        models: ["chat", "vendor/*"],
        debug: true,
        trusted: true,
        limits: [{ usd: 20, per: "day", alertAt: [0.8] }, { parallel: 8 }],
        createdMs: NOW_MS,
        expiresMs: Date.parse("2027-01-31"),
        revokedMs: null,
      },
    ]);
    expect(await holderOf(io, secret)).toBe(keys[0]?.id);
    expect(JSON.stringify(keys)).not.toContain(secret);
    expect(io.out()).toContain(`Kept as ${keys[0]?.id} (app).`);
  });

  it("fails on a name that is taken, and keeps the first key", async () => {
    const { io, secret } = await withKey();
    expect(await run(["keys", "create", "--data", "d", "--name", "app"], io)).toBe(1);
    expect(io.err()).toMatch(/^app: another key has this name/);
    expect((await io.store.keys.load()).keys).toHaveLength(1);
    expect(await holderOf(io, secret)).not.toBeNull();
  });

  it.each([
    { args: ["--limits", "[{ usd: 1, per: year }]"], says: /^--limits: \/0\/per: must be minute/ },
    { args: ["--limits", "[{ usd: 0.00000000001, per: day }]"], says: /^--limits: \/0\/usd: must be USD/ },
    { args: ["--limits", "{"], says: /^--limits: must be/ },
    { args: ["--expires", "2027-02-30"], says: /^--expires: must be a day and time that exist\n$/ },
    { args: ["--tags", "a b"], says: /^--tags: must be a name/ },
  ])("refuses $args and makes nothing", async ({ args, says }) => {
    const io = createFakeIo();
    expect(await run(["keys", "create", "--data", "d", ...args], io)).toBe(2);
    expect(io.err()).toMatch(says);
    expect([io.out(), io.opened]).toEqual(["", []]);
  });
});

describe("dragoman keys list", () => {
  it("shows keys with their state, and no hash", async () => {
    const { io } = await withKey("--owner", "team-a", "--models", "chat,vendor/*");
    for (const name of ["old", "gone", "turned"]) await run(["keys", "create", "--data", "d", "--name", name], io);
    const { keys } = await io.store.keys.load();
    const idOf = (name: string): string => keys.find((key) => key.name === name)?.id ?? "";
    await io.store.keys.update("old", { expiresMs: NOW_MS });
    await io.store.keys.revoke("gone", NOW_MS);
    await io.store.keys.rotate("turned", "f".repeat(64), NOW_MS + 1);
    const before = io.out().length;
    expect(await run(["keys", "list", "--data", "d"], io)).toBe(0);
    const shown = io.out().slice(before);
    expect(shown.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["id", "name", "owner", "models", "state", "created", "expires"],
      [idOf("app"), "app", "team-a", "chat,vendor/*", "active", "2026-11-30", "-"],
      [idOf("old"), "old", "-", "*", "expired", "2026-11-30", "2026-11-30"],
      [idOf("gone"), "gone", "-", "*", "revoked", "2026-11-30", "-"],
      [idOf("turned"), "turned", "-", "*", "active, in grace", "2026-11-30", "-"],
      [""],
    ]);
    expect(shown).not.toMatch(/[0-9a-f]{64}/);
  });

  it("prints one JSON object a line for programs", async () => {
    const { io } = await withKey();
    const before = io.out().length;
    expect(await run(["keys", "list", "--data", "d", "--json"], io)).toBe(0);
    expect(JSON.parse(io.out().slice(before))).toMatchObject({ name: "app", state: "active" });
  });
});

describe("dragoman keys revoke", () => {
  it("ends a key by its name or its id", async () => {
    const { io, secret } = await withKey();
    const id = (await holderOf(io, secret)) ?? "";
    expect([await run(["keys", "revoke", "--data", "d", id], io), io.err()]).toEqual([0, ""]);
    expect(await holderOf(io, secret)).toBeNull();
    expect(await run(["keys", "revoke", "--data", "d", "nobody"], io)).toBe(1);
    expect(io.err()).toBe("nobody: there is no such key\n");
  });
});

describe("dragoman keys rotate", () => {
  it.each([
    { grace: [], graceMs: 24 * HOUR_MS, says: "holds until 2026-12-01T12:00:00.000Z" },
    { grace: ["--grace", "90s"], graceMs: 90_000, says: "holds until 2026-11-30T12:01:30.000Z" },
    { grace: ["--grace", "0"], graceMs: 0, says: "is refused from now on" },
  ])("prints a new secret; the one before $says", async ({ grace, graceMs, says }) => {
    const { io, secret } = await withKey();
    const before = io.out().length;
    expect([await run(["keys", "rotate", "--data", "d", ...grace, "app"], io), io.err()]).toEqual([0, ""]);
    const rotated = keyIn(io.out().slice(before));
    expect(rotated).not.toBe(secret);
    expect(io.out()).toContain(`The secret before it ${says}.`);
    const holders = [await holderOf(io, rotated), await holderOf(io, secret, NOW_MS + graceMs - 1)];
    expect(holders.map((holder) => holder !== null)).toEqual([true, true]);
    expect(await holderOf(io, secret, NOW_MS + graceMs)).toBeNull();
  });

  it.each(["soon", "-1h", "1.5h", "5"])("refuses the grace %s", async (grace) => {
    const { io } = await withKey();
    expect(await run(["keys", "rotate", "--data", "d", `--grace=${grace}`, "app"], io)).toBe(2);
    expect(io.err()).toMatch(/^--grace must be/);
  });

  it("fails on a revoked key", async () => {
    const { io } = await withKey();
    await run(["keys", "revoke", "--data", "d", "app"], io);
    expect(await run(["keys", "rotate", "--data", "d", "app"], io)).toBe(1);
    expect(io.err()).toMatch(/^app: /);
  });
});

describe("dragoman keys import", () => {
  const importing = async (text: string, ...args: readonly string[]): Promise<{ io: FakeIo; status: number }> => {
    const io = createFakeIo({ files: { keys: text } });
    return { io, status: await run(["keys", "import", "--data", "d", ...args, "keys"], io) };
  };

  it("takes over bare hashes and CSV rows, with what the options say of all", async () => {
    const text = `\uFEFFname,hash,owner\r\n# moved on Monday\r\nalpha,${hash("A")},team-b\r\n\r\n${hash("b")}\r\ngamma,${hash("c")}\r\n`;
    const { io, status } = await importing(text, "--owner", "team-a", "--models", "chat");
    expect([status, io.err(), io.out()]).toEqual([0, "", "Imported 3 of 3 keys.\n"]);
    const { keys } = await io.store.keys.load();
    expect(keys.map(({ name, owner, models, secrets }) => [name, owner, models, secrets[0]?.hash])).toEqual([
      ["alpha", "team-b", ["chat"], "a".repeat(64)],
      ["import-bbbbbbbbbbbb", "team-a", ["chat"], "b".repeat(64)],
      ["gamma", "team-a", ["chat"], "c".repeat(64)],
    ]);
  });

  it("names each wrong line, shows nothing of it, and changes nothing", async () => {
    const text = `dgm_aSecretThatSomebodyPastedHere\nx,${hash("a")},o,p\na b,${hash("d")}\nok,${hash("a")}\nok2,${hash("A")}\n`;
    const { io, status } = await importing(text);
    expect(status).toBe(2);
    expect(io.err().trimEnd().split("\n")).toEqual([
      "keys:1: must be sha256:HEX, or name,sha256:HEX and perhaps an owner",
      "keys:2: must be sha256:HEX, or name,sha256:HEX and perhaps an owner",
      "keys:5: has the hash of line 4",
      expect.stringMatching(/^keys:3: name: must be a name/),
    ]);
    expect(io.opened).toEqual([]);
  });

  it("leaves keys that are there alone, names them, and takes the others", async () => {
    const { io, status } = await importing(`one,${hash("a")}\n`);
    expect(status).toBe(0);
    io.files.set("keys", `one,${hash("a")}\ntwo,${hash("b")}\n`);
    expect(await run(["keys", "import", "--data", "d", "keys"], io)).toBe(1);
    expect(io.err()).toMatch(/^keys:1: one: another key has this (name|secret)/);
    expect(io.out()).toContain("Imported 1 of 2 keys.");
    expect((await io.store.keys.load()).keys.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  it("says which file it cannot read", async () => {
    const io = createFakeIo();
    expect(await run(["keys", "import", "--data", "d", "none"], io)).toBe(2);
    expect(io.err()).toBe("none: the file cannot be read (ENOENT)\n");
  });
});
