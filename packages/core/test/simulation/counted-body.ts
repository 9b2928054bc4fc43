/** A pooled body that counts its holders, so that a release too many, too few or too early shows. */
import type { BodyBuffer, BodyPool, PooledBody } from "../../src/index.ts";

export class CountedBody implements BodyBuffer {
  readonly bytes: Uint8Array;
  holders = 1;
  readonly #body: PooledBody;
  readonly #onFree: () => void;

  constructor(pool: BodyPool, content: string, onFree: () => void) {
    const bytes = Buffer.from(content);
    const collector = pool.collect(bytes.byteLength, bytes.byteLength);
    collector.push(bytes);
    this.#body = collector.finish();
    this.bytes = this.#body.bytes;
    this.#onFree = onFree;
  }

  retain(): void {
    this.holders += 1;
    this.#body.retain();
  }

  /** Throws `state_violation` when nobody holds it. */
  release(): void {
    this.#body.release();
    this.holders -= 1;
    if (this.holders === 0) this.#onFree();
  }
}
