/** Profiles as data: compiles the profiles of a dialect that lists them, and checks what a configuration changes in them. */
import type { Profile, ProviderDialect } from "./provider-dialect.ts";

/** Profiles by name. Every member of a profile may be overridden by a value of the same kind. */
export type ProfileTable = Readonly<Record<string, Profile>>;

/** What a dialect has that lists no profiles: one name, nothing to override. */
export const NO_PROFILES: ProfileTable = { default: {} };

/** The `compileProfile` of a table. Problems name the member of the configuration and what would be right. */
export function compileFromTable(table: ProfileTable): ProviderDialect["compileProfile"] {
  return (name, overrides) => {
    const base = Object.hasOwn(table, name) ? table[name] : undefined;
    if (base === undefined) {
      const known = Object.keys(table).join(", ");
      return { ok: false, problems: [{ path: "", message: `there is no profile "${name}"; there are: ${known}` }] };
    }
    const problems = Object.entries(overrides).flatMap(([member, value]) => {
      const message = problemOf(member, value, base);
      return message === null ? [] : [{ path: `/${member.replaceAll("~", "~0").replaceAll("/", "~1")}`, message }];
    });
    return problems.length > 0 ? { ok: false, problems } : { ok: true, profile: { ...base, ...overrides } };
  };
}

function problemOf(member: string, value: unknown, base: Profile): string | null {
  if (!Object.hasOwn(base, member)) {
    const known = Object.keys(base);
    return known.length === 0
      ? "profiles of this dialect have no members"
      : `profiles of this dialect have no such member; they have: ${known.join(", ")}`;
  }
  const expected = kindOf(base[member]);
  return kindOf(value) === expected ? null : `must be ${expected}, as in the profile that it changes`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}
