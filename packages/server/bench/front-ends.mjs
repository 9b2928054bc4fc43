// `npm run bench:front-ends`: CPU per request of each way to embed a gateway against the same host without it, in one
// interleaved run. The upstream is in memory. Differences count; absolute times are those of the machine.
import { fork } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";

import { chatRequest } from "./children/traffic.mjs";
import { cpuSeconds } from "./process-meter.mjs";

const { values: options } = parseArgs({
  options: {
    node: { type: "string", default: process.execPath },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "1" },
    connections: { type: "string", default: "64" },
    warmup: { type: "string", default: "20000" },
    json: { type: "string" },
  },
});

const HOSTS = ["node:http", "express", "fastify", "fetch", "hono", "in process"];
const KINDS = ["bare", "gateway"];
const canPin = cpus().length > 1 && existsSync("/usr/bin/taskset");

function child(name, args, core) {
  const file = fileURLToPath(new URL(`./children/${name}.mjs`, import.meta.url));
  const pinned = { execPath: "/usr/bin/taskset", execArgv: ["-c", String(core), options.node] };
  const started = fork(file, args, canPin ? pinned : { execPath: options.node });
  return new Promise((resolve, reject) => {
    started.once("message", (message) => resolve({ process: started, ...message }));
    started.once("error", reject);
    started.once("exit", (code) => reject(new Error(`${name} ${args.join(" ")} ended with code ${code}`)));
  });
}

function ask(load, message, type) {
  return new Promise((resolve, reject) => {
    const onMessage = (answer) => {
      if (answer.type !== type && answer.type !== "failed") return;
      load.process.off("message", onMessage);
      if (answer.type === "failed") reject(new Error(answer.message));
      else resolve(answer);
    };
    load.process.on("message", onMessage);
    load.process.send(message);
  });
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (numbers) => [...numbers].sort((left, right) => left - right)[numbers.length >> 1];

/** CPU µs per completed request of the subject's process. A subject without a port is its own load. */
async function measure(socketLoad, subject, minRequests) {
  const load = subject.port === 0 ? subject : socketLoad;
  load.process.send({
    type: "start",
    port: subject.port,
    key: "unused",
    connections: Number(options.connections),
    path: "/llm/v1/chat/completions",
    body: chatRequest(false),
    rate: 0,
  });
  await sleep(100);
  const { pid } = subject.process;
  const cpuBefore = cpuSeconds(pid);
  const { completed: before } = await ask(load, { type: "count" }, "count");
  let completed = 0;
  do {
    await sleep(Number(options.seconds) * 1000);
    completed = (await ask(load, { type: "count" }, "count")).completed - before;
  } while (completed < minRequests);
  const cpu = cpuSeconds(pid) - cpuBefore;
  await ask(load, { type: "stop" }, "stopped");
  return (cpu * 1e6) / completed;
}

const socketLoad = await child("load", [], 1);
const subjects = [];
for (const host of HOSTS)
  for (const kind of KINDS) subjects.push({ host, kind, figures: [], ...(await child("front-end", [host, kind], 0)) });

for (const subject of subjects) await measure(socketLoad, subject, Number(options.warmup));
for (let round = 0; round < Number(options.rounds); round += 1)
  for (const subject of subjects) subject.figures.push(await measure(socketLoad, subject, 1));

const figuresOf = (host, kind) => subjects.find((each) => each.host === host && each.kind === kind).figures;
const show = (numbers) =>
  `${median(numbers).toFixed(0)} [${Math.min(...numbers).toFixed(0)}–${Math.max(...numbers).toFixed(0)}]`;

console.log("| host | bare, µs CPU per request | with the gateway | difference | ratio |");
console.log("| --- | --- | --- | --- | --- |");
for (const host of HOSTS) {
  const [bare, mounted] = KINDS.map((kind) => figuresOf(host, kind));
  // Each round's own pair, so that a slow moment of the machine falls on both.
  const differences = mounted.map((figure, round) => figure - bare[round]);
  const ratios = mounted.map((figure, round) => figure / bare[round]);
  console.log(`| ${host} | ${show(bare)} | ${show(mounted)} | ${show(differences)} | ${median(ratios).toFixed(1)} |`);
}
console.log(
  `\nNode ${subjects.length > 0 ? process.version : ""} as ${options.node === process.execPath ? "the bench's own" : "--node says"}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`,
);
if (options.json !== undefined) {
  const raw = subjects.map(({ host, kind, figures }) => ({ host, kind, figures }));
  writeFileSync(options.json, `${JSON.stringify({ node: options.node, options, raw }, null, 2)}\n`);
}
for (const { process: started } of [socketLoad, ...subjects]) {
  started.removeAllListeners("exit");
  started.kill();
}
