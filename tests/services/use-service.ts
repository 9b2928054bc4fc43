// Which server a test file uses, and the one line that says so when it uses none.
import { afterAll } from "vitest";

import { startService, type OwnService, type Service, type ServiceRecipe } from "./service-process.ts";

/** A server that the tests of several files may share. */
export interface Available extends Service {
  /** Starts one that nobody else uses, and ends it with the file's tests. Null where this machine has no binaries. */
  readonly startOwn: (() => Promise<OwnService>) | null;
}

/** What a test file looks for: a server from outside, else one by this recipe. A string says why there is no recipe. */
export interface WantedService {
  readonly name: string;
  readonly url: string | undefined;
  readonly recipe: ServiceRecipe | string;
}

/** Finds or starts the server. To be awaited at the top of a test file, whose suites `describe.skipIf` it is null. */
export async function useService({ name, url, recipe }: WantedService): Promise<Available | null> {
  const own: OwnService[] = [];
  afterAll(async () => {
    for (const service of own) await service.stop();
  });
  const startOwn =
    typeof recipe === "string"
      ? null
      : async (): Promise<OwnService> => {
          const service = await startService(recipe);
          own.push(service);
          return service;
        };
  if (url !== undefined && url !== "") return { url, startOwn };
  if (startOwn !== null) return { url: (await startOwn()).url, startOwn };
  console.log(`SKIP ${name}: ${recipe as string}`);
  return null;
}
