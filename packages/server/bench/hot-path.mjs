// `npm run bench:hot`: CPU per request of the gateway process against a bare relay, a parse-and-stringify proxy and JSON.parse, in
// one interleaved run. Rounds alternate between the processes under test; medians and ratios are printed, absolute times are noise.
// CPU per request depends on the rate, since a write to a sleeping peer has to wake it: with `--rate` all run at the same one.
import { execFileSync, fork } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";

import { cpuSeconds, residentMiB } from "./process-meter.mjs";
import { measureScan } from "./scan-rows.mjs";
import { anthropicRequest, CHAT_EVENTS, chatRequest, conversation } from "./children/traffic.mjs";

const { values: options } = parseArgs({
  options: {
    node: { type: "string", default: process.execPath },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "64" },
    warmup: { type: "string", default: "20000" },
    rate: { type: "string", default: "0" },
    only: { type: "string" },
    json: { type: "string" },
  },
});

const KEY = "dgm_bench_key_for_loopback_only";
const CONNECTIONS = Number(options.connections);
/** Requests per second of the measured rounds; 0 = as many as the process under test can do. */
const RATE = Number(options.rate);
const canPin = cpus().length > 1 && existsSync("/usr/bin/taskset");

const child = (name, args, core) =>
  new Promise((resolve, reject) => {
    const file = fileURLToPath(new URL(`./children/${name}.mjs`, import.meta.url));
    // `taskset` takes the place of Node and starts it on one core; the IPC channel is inherited.
    const started = fork(
      file,
      args,
      canPin
        ? { execPath: "/usr/bin/taskset", execArgv: ["-c", String(core), options.node] }
        : { execPath: options.node },
    );
    started.once("message", (message) => resolve({ process: started, ...message }));
    started.once("error", reject);
    started.once("exit", (code) => reject(new Error(`${name} ended with code ${code}`)));
  });

const ask = (load, message, type) =>
  new Promise((resolve, reject) => {
    const onMessage = (answer) => {
      if (answer.type === "failed") {
        load.process.off("message", onMessage);
        reject(new Error(answer.message));
      } else if (answer.type === type) {
        load.process.off("message", onMessage);
        resolve(answer);
      }
    };
    load.process.on("message", onMessage);
    load.process.send(message);
  });

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (numbers) => {
  const sorted = [...numbers].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** CPU µs per completed request of one process, over one round of load. */
async function runRound(load, subject, { seconds, minRequests, rate }) {
  load.process.send({
    type: "start",
    port: subject.port,
    key: KEY,
    connections: CONNECTIONS,
    path: subject.path,
    body: subject.body,
    rate,
  });
  await sleep(150);
  const pid = subject.process.pid;
  const before = { cpu: cpuSeconds(pid), count: (await ask(load, { type: "count" }, "count")).completed };
  const startedAt = performance.now();
  let completed = 0;
  do {
    await sleep(seconds * 1000);
    completed = (await ask(load, { type: "count" }, "count")).completed - before.count;
  } while (completed < minRequests && performance.now() - startedAt < 60_000);
  const cpu = cpuSeconds(pid) - before.cpu;
  const elapsed = (performance.now() - startedAt) / 1000;
  await ask(load, { type: "stop" }, "stopped");
  return { microseconds: (cpu * 1e6) / completed, perSecond: completed / elapsed };
}

const mock = await child("mock", [], 1);
const load = await child("load", [], 1);
const relay = await child("relay", [String(mock.port)], 0);
const gateway = await child("gateway", [String(mock.port), KEY], 0);
const overNode = await child("gateway", [String(mock.port), KEY, "node"], 0);
const parser = await child("parse-proxy", [String(mock.port)], 0);

const CHAT_PATH = "/v1/chat/completions";
const MESSAGES_PATH = "/v1/messages";
const toMessages = (body) => body.replace('"model":"bench"', '"model":"bench-messages"');

/** What is measured. `unit` divides a request into its events; `against` and `target` state the ratio to reach. */
const ROWS = [
  { id: "relay-1k", label: "bare relay, 1 KB", subject: relay, path: CHAT_PATH, body: chatRequest(false) },
  {
    id: "gateway-1k",
    label: "gateway, same dialect, 1 KB",
    subject: gateway,
    path: CHAT_PATH,
    body: chatRequest(false),
    against: "relay-1k",
    target: 2.5,
  },
  {
    id: "gateway-node-1k",
    label: "gateway with the front end `node`, same dialect, 1 KB",
    subject: overNode,
    path: CHAT_PATH,
    body: chatRequest(false),
    against: "relay-1k",
    target: 2.5,
  },
  {
    id: "translated-a-c",
    label: "gateway, Anthropic client → OpenAI upstream, 1 KB",
    subject: gateway,
    path: MESSAGES_PATH,
    body: anthropicRequest(false),
    against: "gateway-1k",
    target: 1.5,
  },
  {
    id: "translated-c-a",
    label: "gateway, OpenAI client → Anthropic upstream, 1 KB",
    subject: gateway,
    path: CHAT_PATH,
    body: toMessages(chatRequest(false)),
    against: "gateway-1k",
    target: 1.5,
  },
  {
    id: "parse-200k",
    label: "parse + stringify proxy, 200 KB",
    subject: parser,
    path: CHAT_PATH,
    body: conversation(204_800),
    large: true,
  },
  {
    id: "gateway-200k",
    label: "gateway, same dialect, 200 KB",
    subject: gateway,
    path: CHAT_PATH,
    body: conversation(204_800),
    large: true,
    against: "parse-200k",
    target: 0.4,
  },
  {
    id: "relay-sse",
    label: "bare relay, stream",
    subject: relay,
    path: CHAT_PATH,
    body: chatRequest(true),
    unit: CHAT_EVENTS.length,
    stream: true,
  },
  {
    id: "gateway-sse",
    label: "gateway, same dialect, stream",
    subject: gateway,
    path: CHAT_PATH,
    body: chatRequest(true),
    unit: CHAT_EVENTS.length,
    stream: true,
    against: "relay-sse",
    target: 2,
  },
  {
    id: "gateway-node-sse",
    label: "gateway with the front end `node`, same dialect, stream",
    subject: overNode,
    path: CHAT_PATH,
    body: chatRequest(true),
    unit: CHAT_EVENTS.length,
    stream: true,
    against: "relay-sse",
    target: 2,
  },
  {
    id: "translated-sse",
    label: "gateway, Anthropic client ← OpenAI stream",
    subject: gateway,
    path: MESSAGES_PATH,
    body: anthropicRequest(true),
    unit: CHAT_EVENTS.length,
    stream: true,
    against: "gateway-sse",
    target: null,
  },
].filter((row) => options.only === undefined || options.only.split(",").some((part) => row.id.includes(part)));

try {
  for (const row of ROWS) {
    const requests = row.stream || row.large ? Math.ceil(Number(options.warmup) / 10) : Number(options.warmup);
    await runRound(
      load,
      { ...row.subject, path: row.path, body: row.body },
      { seconds: 1, minRequests: requests, rate: 0 },
    );
  }
  const results = new Map(ROWS.map((row) => [row.id, []]));
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const row of ROWS) {
      const result = await runRound(
        load,
        { ...row.subject, path: row.path, body: row.body },
        { seconds: Number(options.seconds), minRequests: 100, rate: RATE },
      );
      results.get(row.id).push(result);
    }
  }
  const figures = ROWS.map((row) => {
    const perUnit = results.get(row.id).map((result) => result.microseconds / (row.unit ?? 1));
    const base = row.against === undefined ? undefined : results.get(row.against);
    const baseUnit = ROWS.find((other) => other.id === row.against)?.unit ?? 1;
    // The ratio of neighbours in time: each round has its own base.
    const ratios =
      base === undefined ? [] : perUnit.map((value, index) => value / (base[index].microseconds / baseUnit));
    return {
      id: row.id,
      label: row.label,
      unit: row.unit === undefined ? "request" : "event",
      microseconds: median(perUnit),
      rounds: perUnit.map((value) => Number(value.toFixed(2))),
      min: Math.min(...perUnit),
      max: Math.max(...perUnit),
      perSecond: median(results.get(row.id).map((result) => result.perSecond)),
      against: row.against ?? null,
      ratio: ratios.length === 0 ? null : median(ratios),
      target: row.target ?? null,
    };
  });
  const scan = options.only === undefined || options.only.includes("scan") ? await measureScan(options.node) : [];
  print(figures, scan);
  if (options.json !== undefined)
    writeFileSync(
      options.json,
      `${JSON.stringify({ machine: machine(), load: loadavg(), connections: CONNECTIONS, rate: RATE, figures, scan, residentMiB: { wire: residentMiB(gateway.process.pid), node: residentMiB(overNode.process.pid) } }, null, 2)}\n`,
    );
} finally {
  for (const { process: running } of [mock, load, relay, gateway, overNode, parser]) {
    running.removeAllListeners("exit");
    running.kill();
  }
}

function machine() {
  const [cpu] = cpus();
  return { cpu: cpu?.model ?? "unknown", cores: cpus().length, kernel: release(), node: gatewayNode() };
}

function gatewayNode() {
  return execFileSync(options.node, ["--version"], { encoding: "utf8" }).trim();
}

function print(figures, scan) {
  const { cpu, cores, kernel, node } = machine();
  const out = [
    `CPU time per unit, closed loop of ${CONNECTIONS}${RATE > 0 ? ` paced to ${RATE} requests/s` : ""}, median [min–max] of ${options.rounds} interleaved rounds of ${options.seconds} s`,
    `${cpu}, ${cores} cores, kernel ${kernel}, Node ${node}${canPin ? ", process under test pinned to core 0, the rest to core 1" : ""}`,
    "",
    "| what | µs | unit | requests/s | ratio | of | target |",
    "|---|---|---|---|---|---|---|",
  ];
  for (const row of figures) {
    const range = `${row.microseconds.toFixed(1)} [${row.min.toFixed(1)}–${row.max.toFixed(1)}]`;
    const verdict =
      row.ratio === null
        ? ""
        : row.target === null
          ? ""
          : `≤ ${row.target} ${row.ratio <= row.target ? "reached" : "MISSED"}`;
    out.push(
      `| ${row.label} | ${range} | ${row.unit} | ${row.perSecond.toFixed(0)} | ${row.ratio === null ? "" : row.ratio.toFixed(2)} | ${row.against ?? ""} | ${verdict} |`,
    );
  }
  for (const row of scan)
    out.push(
      `| ${row.label} | ${row.microseconds.toFixed(2)} | text | | ${row.ratio.toFixed(2)}× faster | JSON.parse(toString) ${row.baseline.toFixed(2)} µs | ${row.target === null ? "" : `≥ ${row.target} ${row.ratio >= row.target ? "reached" : "MISSED"}`} |`,
    );
  out.push(
    "",
    `resident after the run: ${residentMiB(gateway.process.pid).toFixed(0)} MiB, front end node ${residentMiB(overNode.process.pid).toFixed(0)} MiB`,
  );
  process.stdout.write(`${out.join("\n")}\n`);
}
