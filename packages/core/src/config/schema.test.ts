import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { CONFIG_SCHEMA } from "./schema.ts";

interface Node {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly propertyNames?: object;
  readonly additionalProperties?: Node | boolean;
}

interface Member {
  readonly isRequired: boolean;
  /** As JSON; null where there is none. */
  readonly default: string | null;
}

const definitions = CONFIG_SCHEMA["$defs"] as Readonly<Record<string, Node>>;

const resolve = (node: Node): Node => {
  const name = node.$ref?.split("/").at(-1);
  return name === undefined ? node : { ...definitions[name], ...node };
};

/**
 * Every member of the schema by its path in the page: `<name>` for names that the user chooses, `[]` for items of lists. Members of
 * a definition that several places share are there once, under the definition's name.
 */
const membersOf = (schema: Node): ReadonlyMap<string, Member> => {
  const members = new Map<string, Member>();
  const shared = new Set<string>();
  const walk = (node: Node, path: string): void => {
    const definition = node.$ref?.split("/").at(-1);
    if (definition !== undefined) {
      if (shared.has(definition)) return;
      shared.add(definition);
      walk(definitions[definition] ?? {}, `<${definition}>`);
      return;
    }
    for (const [name, member] of Object.entries(node.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      const { default: value } = resolve(member);
      members.set(at, {
        isRequired: node.required?.includes(name) ?? false,
        default: value === undefined ? null : JSON.stringify(value),
      });
      walk(member, at);
    }
    if (node.items !== undefined) walk(node.items, `${path}[]`);
    if (node.propertyNames !== undefined && typeof node.additionalProperties === "object")
      walk(node.additionalProperties, `${path}.<name>`);
  };
  walk(schema, "");
  return members;
};

/** Rows of the page's tables: a member, then its type, its default, and what it is. */
const documentedIn = (page: string): ReadonlyMap<string, { readonly type: string; readonly default: string }> =>
  new Map(
    [...page.matchAll(/^\| `([^`]+)` +\| ([^|]+) \| ([^|]+) \| (.+) \|$/gm)].map(([, path, type, value]) => [
      path ?? "",
      { type: type?.trim() ?? "", default: value?.trim() ?? "" },
    ]),
  );

const page = readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8");

describe("the configuration's documentation", () => {
  const members = membersOf(CONFIG_SCHEMA as Node);
  const documented = documentedIn(page);

  it("has a row for every member of the schema, and no other rows", () => {
    expect(members.size).toBeGreaterThan(80);
    expect([...documented.keys()].toSorted()).toEqual([...members.keys()].toSorted());
  });

  it("says the default that the schema says, or that the member is required", () => {
    const expected = [...members].map(([path, { isRequired, default: value }]) => {
      if (isRequired) return [path, "required"];
      return [path, value === null ? "–" : `\`${value}\``];
    });
    expect([...members.keys()].map((path) => [path, documented.get(path)?.default])).toEqual(expected);
  });
});
