// The scan rows of the hot-path bench, in a process of their own so that another Node can be asked for.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Measures the scanner against `JSON.parse(buffer.toString())` with the given Node. */
export async function measureScan(node) {
  const file = fileURLToPath(new URL("./children/scan.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(node, [file], { maxBuffer: 1 << 20 });
  return JSON.parse(stdout);
}
