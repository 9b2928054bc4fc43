// Runs a command with every server this machine can start, and ends them with it: `tsx tests/services/with-services.ts npm test`.
import { spawnSync } from "node:child_process";

import { postgresRecipe } from "./postgres.ts";
import { startService, type OwnService, type ServiceRecipe } from "./service-process.ts";
import { valkeyRecipe } from "./valkey.ts";

const WANTED: readonly (readonly [string, () => ServiceRecipe | string])[] = [
  ["DRAGOMAN_TEST_POSTGRES_URL", postgresRecipe],
  ["DRAGOMAN_TEST_VALKEY_URL", valkeyRecipe],
];

const running: OwnService[] = [];
try {
  const environment = { ...process.env };
  for (const [variable, find] of WANTED) {
    const recipe = environment[variable] === undefined ? find() : "given from outside";
    if (typeof recipe === "string") {
      console.log(`${variable}: ${recipe}`);
      continue;
    }
    const service = await startService(recipe);
    running.push(service);
    environment[variable] = service.url;
    console.log(`${variable}=${service.url}`);
  }
  const [command = "true", ...words] = process.argv.slice(2);
  process.exitCode = spawnSync(command, words, { stdio: "inherit", env: environment }).status ?? 1;
} finally {
  for (const service of running) await service.stop();
}
