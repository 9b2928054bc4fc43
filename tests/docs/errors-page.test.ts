// docs/errors.md names every code that clients and hosts meet, and nothing else. The table of thrown errors has its test beside the
// table; here is the rest of the page: what clients get, reason codes, settlement rules.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ADAPTATION_CODES, LOSSY_PRESETS, REASON_CODES } from "@dragoman/core";
import type { ClientDialect, ErrorClass, NeutralError, SettlementRule } from "@dragoman/core";
import { anthropic, openaiChat } from "@dragoman/dialects";
import { describe, expect, it } from "vitest";

import { REPOSITORY } from "./markdown-files.ts";

const page = readFileSync(join(REPOSITORY, "docs/errors.md"), "utf8");

/** The rows of the table whose first heading is given, cells trimmed. */
function readTable(heading: string): string[][] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `));
  if (start < 0) throw new Error(`docs/errors.md has no table "${heading}".`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const namesOf = (rows: readonly (readonly string[])[]): string[] => rows.map(([cell = ""]) => cell.replaceAll("`", ""));

/** Complete by its type: a class that is new does not compile until it stands here. */
const CLASSES: Readonly<Record<ErrorClass, "shown" | "shown for providers too" | "never shown">> = {
  auth: "shown for providers too",
  permission: "shown for providers too",
  "not-found": "shown for providers too",
  "method-not-allowed": "shown",
  "invalid-request": "shown",
  "unsupported-media-type": "shown",
  "too-large": "shown",
  "context-length": "shown",
  "content-policy": "shown",
  "rate-limit": "shown",
  quota: "shown for providers too",
  overloaded: "shown",
  timeout: "shown",
  "upstream-5xx": "shown",
  network: "shown",
  protocol: "shown",
  "no-deployment": "shown",
  cancelled: "never shown",
  internal: "shown",
};

const RULES: Readonly<Record<SettlementRule, true>> = {
  actual: true,
  estimated: true,
  after_disconnect: true,
  partial: true,
  failed_actual: true,
  failed_free: true,
  abandoned: true,
  shared: true,
  recovered: true,
};

function clientOf({ client }: { readonly client?: ClientDialect }): ClientDialect {
  if (client === undefined) throw new Error("A built-in dialect has no client half.");
  return client;
}

/** What a client of a dialect gets for an error that has no code or text of its own, as the page writes it. */
function answerOf(client: ClientDialect, errorClass: ErrorClass, origin: NeutralError["origin"]): string {
  const error: NeutralError = { class: errorClass, origin, message: "", retrySame: false, fallback: false };
  const { status, body } = client.encodeError(error, { requestId: "req_1", hasFallenBack: false });
  const envelope = JSON.parse(Buffer.from(body).toString()) as { error: { type: string; code?: string | null } };
  const { type, code } = envelope.error;
  return `${status} \`${type}\`${code === undefined ? "" : ` \`${code}\``}`;
}

function expectedRow(errorClass: ErrorClass, origin: NeutralError["origin"]): string[] {
  const answers = [openaiChat, anthropic].map((dialect) => answerOf(clientOf(dialect), errorClass, origin));
  return [origin === "upstream" ? `${errorClass} of the provider` : errorClass, ...answers];
}

describe("docs/errors.md", () => {
  it("says what clients of each dialect get for each class", () => {
    const classes = Object.keys(CLASSES) as ErrorClass[];
    const own = classes.filter((name) => CLASSES[name] !== "never shown").map((name) => expectedRow(name, "gateway"));
    const providers = classes
      .filter((name) => CLASSES[name] === "shown for providers too")
      .map((name) => expectedRow(name, "upstream"));
    expect(readTable("class")).toEqual([...own, ...providers]);
  });

  it("names every code that the pipeline gives to an answer", () => {
    const folders = ["packages/core/src/gateway", "packages/ledger/src/admission"].map((name) =>
      join(REPOSITORY, name),
    );
    const sources = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
    const published = sources.filter((path) => path.endsWith(".ts") && !path.includes(".test"));
    const given = published.flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/\bcode(?:: string)?(?::| =) "([a-z_]+)"/g)].map(
        ([, code]) => code ?? "",
      ),
    );
    expect(given).toEqual(expect.arrayContaining(["model_not_found", "model_unpriced"]));
    const documented = namesOf(readTable("code in the answer"));
    expect(documented.filter((code) => code !== "json_…").toSorted()).toEqual([...new Set(given)].toSorted());
  });

  it("lists the reason codes, each with its smallest preset", () => {
    const presets = ["@hints", "@history", "@sampling", "@agents"];
    const expected = REASON_CODES.map((code) => {
      const preset = presets.find((name) => LOSSY_PRESETS[name]?.includes(code) === true);
      return [`\`${code}\``, preset === undefined ? "–" : `\`${preset}\``];
    });
    expect(readTable("reason code").map((row) => row.slice(0, 2))).toEqual(expected);
  });

  it("lists the adaptation codes", () => {
    expect(namesOf(readTable("adaptation code"))).toEqual(ADAPTATION_CODES);
  });

  it("lists the settlement rules", () => {
    expect(namesOf(readTable("settlement rule"))).toEqual(Object.keys(RULES));
  });
});
