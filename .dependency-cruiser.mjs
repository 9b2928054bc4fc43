// The import rules of this repository, read by scripts/layers.ts. Packages and the rooms inside them import one way only;
// tests/architecture/layers.test.ts plants a violation of every rule and proves that it is caught.
import { readFileSync } from "node:fs";

/** Published packages, each with the ones it may import. */
const PACKAGES = {
  core: [],
  dialects: ["core"],
  ledger: ["core"],
  server: ["core", "dialects", "ledger"],
  bench: [],
};

/** Rooms of core, lowest first. Rooms on one line are siblings and never import each other. */
const CORE_ROOMS = [["errors"], ["json"], ["ir"], ["dialect"], ["config"], ["route", "stream"], ["gateway"]];

/** Rooms of dialects that are not dialects: `shared` is open to all; the others register or exercise dialect rooms. */
const DIALECT_DATA_ROOMS = ["profiles", "kinds", "testing", "subjects"];

/** Pure built-ins. Everything else in Node opens a socket, a file, a clock or the environment. */
const PURE_BUILTINS = ["assert", "buffer", "crypto", "string_decoder", "util", "zlib"];

const NOT_PRODUCTION = "\\.(test|test-d|fuzz|bench)\\.ts$";
const anyOf = (names) => `(${names.join("|")})`;

function manifestOf(name) {
  return JSON.parse(readFileSync(new URL(`./packages/${name}/package.json`, import.meta.url), "utf8"));
}

/** Source files that a package's `exports` open: `./testing` is `src/testing/index.ts`. */
function entriesOf(name) {
  return Object.keys(manifestOf(name).exports)
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => `^packages/${name}/src${subpath.slice(1)}/index\\.ts$`);
}

function packageRules(name) {
  const others = Object.keys(PACKAGES).filter((other) => other !== name);
  const forbidden = others.filter((other) => !PACKAGES[name].includes(other));
  const { dependencies = {}, peerDependencies = {} } = manifestOf(name);
  const declared = Object.keys({ ...dependencies, ...peerDependencies });
  return [
    ...(forbidden.length === 0
      ? []
      : [
          {
            name: `${name}-imports-lower-packages-only`,
            comment: `${name} may import ${PACKAGES[name].join(", ") || "no other package"}.`,
            severity: "error",
            from: { path: `^packages/${name}/` },
            to: { path: `^packages/${anyOf(forbidden)}/` },
          },
        ]),
    {
      name: `${name}-is-entered-by-its-exports`,
      comment: "Another package is entered by its exports, never by a deep path.",
      severity: "error",
      from: { path: `^(packages/${anyOf(others)}|tests|examples)/` },
      to: { path: `^packages/${name}/`, pathNot: entriesOf(name) },
    },
    {
      name: `${name}-is-imported-by-name`,
      comment: "A relative path into another package would bundle a second copy of it.",
      severity: "error",
      from: { path: `^(packages/${anyOf(others)}|examples)/` },
      to: { path: `^packages/${name}/`, dependencyTypesNot: ["aliased"] },
    },
    {
      name: `${name}-declares-its-dependencies`,
      comment: "Published code imports only what its own package.json depends on; the root's tools are not shipped.",
      severity: "error",
      from: { path: `^packages/${name}/src/`, pathNot: NOT_PRODUCTION },
      to: { path: "(^|/)node_modules/", pathNot: declared.map((each) => `node_modules/${each}/`) },
    },
  ];
}

/** One rule per room: it imports no room above it, none beside it, and no room that is not in the list. */
function coreRoomRules() {
  return CORE_ROOMS.flatMap((level, rank) =>
    level.map((room) => {
      const allowed = [room, ...CORE_ROOMS.slice(0, rank).flat()];
      return {
        name: `core-${room}-imports-lower-rooms-only`,
        comment: `core/${room} may import ${allowed.slice(1).join(", ") || "no other room"}.`,
        severity: "error",
        from: { path: `^packages/core/src/${room}/`, pathNot: NOT_PRODUCTION },
        to: { path: "^packages/core/src/", pathNot: `^packages/core/src/${anyOf(allowed)}/` },
      };
    }),
  );
}

export default {
  forbidden: [
    ...Object.keys(PACKAGES).flatMap(packageRules),
    ...coreRoomRules(),
    {
      name: "core-has-known-rooms-only",
      comment: "A new room of core gets its place in the order first.",
      severity: "error",
      from: { path: "^packages/" },
      to: {
        path: "^packages/core/src/[^/]+/",
        pathNot: `^packages/core/src/${anyOf(CORE_ROOMS.flat())}/`,
      },
    },
    {
      name: "dialect-rooms-are-independent",
      comment: "A dialect room imports its own files and shared/. The third use moves code to shared/.",
      severity: "error",
      from: {
        path: "^packages/dialects/src/([^/]+)/",
        pathNot: [NOT_PRODUCTION, `^packages/dialects/src/${anyOf(["shared", ...DIALECT_DATA_ROOMS])}/`],
      },
      to: { path: "^packages/dialects/src/", pathNot: "^packages/dialects/src/($1|shared)/" },
    },
    {
      name: "dialects-shared-knows-no-room",
      comment: "shared/ is below every room of dialects.",
      severity: "error",
      from: { path: "^packages/dialects/src/shared/", pathNot: NOT_PRODUCTION },
      to: { path: "^packages/dialects/src/", pathNot: "^packages/dialects/src/shared/" },
    },
    {
      name: "dialects-testing-knows-no-dialect",
      comment: "The laws are for any dialect, also one from outside.",
      severity: "error",
      from: { path: "^packages/dialects/src/testing/", pathNot: NOT_PRODUCTION },
      to: { path: "^packages/dialects/src/", pathNot: "^packages/dialects/src/(testing|shared)/" },
    },
    {
      name: "pure-packages-use-pure-builtins",
      comment: `core, dialects and ledger get sockets, files, clocks and environment through ports; of Node they import ${PURE_BUILTINS.join(", ")}.`,
      severity: "error",
      from: {
        path: "^packages/(core|dialects|ledger)/src/",
        pathNot: [NOT_PRODUCTION, "^packages/ledger/src/stores/"],
      },
      to: { dependencyTypes: ["core"], pathNot: `^(node:)?${anyOf(PURE_BUILTINS)}(/|$)` },
    },
    {
      name: "production-imports-no-tests",
      comment: "Published code never imports a test, a bench or a fixture of the repository.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: NOT_PRODUCTION },
      to: { path: [NOT_PRODUCTION, "^packages/[^/]+/(?!src/|node_modules/)", "^(tests|scripts|examples)/"] },
    },
    {
      name: "no-circular-imports",
      comment: "Two files that import each other are one file, or lack a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "imports-resolve",
      comment: "An import that cannot be resolved is an edge this check cannot see.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "default"],
      extensions: [".ts", ".mjs", ".js", ".json", ".d.ts"],
    },
  },
};
