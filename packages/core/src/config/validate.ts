/** Checks a configuration against the JSON Schema and says in plain words what is wrong. Values are not repeated: they may be secrets. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";

import { pointer, ProblemList } from "./problem.ts";
import type { ConfigProblem } from "./problem.ts";
import { CONFIG_SCHEMA } from "./schema.ts";
import { PRICE_FILE_SCHEMA } from "./schema-prices.ts";
import { suggest } from "./suggest.ts";

const MAX_LISTED = 12;

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ["object", "an object"],
  ["array", "a list"],
  ["string", "a text"],
  ["integer", "an integer"],
  ["number", "a number"],
  ["boolean", "true or false"],
]);

const createAjv = (): Ajv2020 =>
  new Ajv2020({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true, logger: false });

/** The compiled schema. Making one takes some 50 ms, so whoever checks often keeps it. */
export class ConfigValidator {
  readonly #config: ValidateFunction = createAjv().compile(CONFIG_SCHEMA);
  #prices: ValidateFunction | null = null;

  /** Every problem of a JSON value as a configuration, by schema alone; an empty list when there is none. Never throws. */
  validate(value: unknown): readonly ConfigProblem[] {
    return check(this.#config, value);
  }

  /** The same for the content of a price file. */
  validatePrices(value: unknown): readonly ConfigProblem[] {
    this.#prices ??= createAjv().compile({ ...PRICE_FILE_SCHEMA, $defs: CONFIG_SCHEMA["$defs"] });
    return check(this.#prices, value);
  }
}

function check(isValid: ValidateFunction, value: unknown): readonly ConfigProblem[] {
  if (isValid(value)) return [];
  const list = new ProblemList();
  for (const error of isValid.errors ?? []) report(list, error);
  return list.problems;
}

/** What ajv hands out with `verbose`: the schema around the failed keyword. */
interface FailedSchema {
  readonly title?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly type?: string | readonly string[];
}

function report(list: ProblemList, error: ErrorObject): void {
  const schema = (error.parentSchema ?? {}) as FailedSchema;
  const params = error.params as Readonly<Record<string, unknown>>;
  const path = error.propertyName === undefined ? error.instancePath : pointer(error.instancePath, error.propertyName);
  switch (error.keyword) {
    case "propertyNames":
    case "if":
      // Their inner errors say what is wrong.
      return;
    case "additionalProperties":
      return reportUnknown(list, error.instancePath, String(params["additionalProperty"]), schema);
    case "required":
      return list.add(path, `must have the member "${String(params["missingProperty"])}"`);
    case "enum":
      return reportEnum(list, path, error.data, params["allowedValues"] as readonly unknown[]);
    case "const":
      return list.add(path, `must be ${JSON.stringify(params["allowedValue"])}`);
    case "minItems":
    case "minProperties":
      return list.add(path, "must not be empty");
    default:
      list.add(
        path,
        error.propertyName === undefined ? expectation(error, schema) : `the name ${expectation(error, schema)}`,
      );
  }
}

function reportUnknown(list: ProblemList, base: string, name: string, schema: FailedSchema): void {
  const known = Object.keys(schema.properties ?? {});
  const nearest = suggest(name, known);
  const path = pointer(base, name);
  if (nearest !== undefined || known.length > MAX_LISTED)
    list.add(path, `unknown member ${JSON.stringify(name)}`, nearest);
  else list.add(path, `unknown member ${JSON.stringify(name)}; known here: ${known.join(", ")}`);
}

function reportEnum(list: ProblemList, path: string, value: unknown, allowed: readonly unknown[]): void {
  const words = allowed.filter((word) => typeof word === "string");
  list.add(
    path,
    `must be one of ${allowed.map((word) => JSON.stringify(word)).join(", ")}`,
    typeof value === "string" ? suggest(value, words) : undefined,
  );
}

function expectation(error: ErrorObject, schema: FailedSchema): string {
  const { limit, comparison } = error.params as { readonly limit?: number; readonly comparison?: string };
  const examples = schema.examples?.map((example) => JSON.stringify(example)).join(" or ");
  if (comparison !== undefined) return `must be ${comparison} ${limit}`;
  const what = schema.title ?? typeWords(schema.type);
  if (error.keyword === "minLength" && schema.title === undefined) return "must not be empty";
  return `must be ${what}${examples === undefined ? "" : `, such as ${examples}`}`;
}

function typeWords(type: string | readonly string[] | undefined): string {
  const types = typeof type === "string" ? [type] : (type ?? []);
  return types.map((each) => TYPE_WORDS.get(each) ?? each).join(" or ");
}
