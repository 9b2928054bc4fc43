// Edits of a scanned text that leave every other byte as it was. Edits are collected, resolved per container (commas depend on what
// else goes) and written once as segments.

import { GatewayError } from "../errors/gateway-error.ts";
import type { Document } from "./document.ts";
import { encodeString } from "./json-string.ts";
import { SegmentWriter } from "./segments.ts";
import type { Segments } from "./segments.ts";
import { ABSENT } from "./tape.ts";
import type { NodeIndex } from "./tape.ts";

/** The bytes from `start` to `end` give way to `replacement`; an insertion has no bytes and comes before a change at its place. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly replacement: Uint8Array | string;
}

interface Insertion {
  readonly name: string;
  readonly value: Uint8Array | string;
}

/** What happens to the children of one container. */
interface ContainerEdits {
  readonly removed: Set<NodeIndex>;
  readonly inserted: Insertion[];
}

/**
 * Collects edits of a document. Values given as bytes or text must be valid JSON; they are not checked. Edits may come in any order;
 * that two of them meet is found by `finish`.
 */
export class Edits {
  readonly #document: Document;
  readonly #changes: Change[];
  readonly #removed: Set<NodeIndex>;
  readonly #containers: Map<NodeIndex, ContainerEdits>;
  #isFinished: boolean;

  constructor(document: Document) {
    this.#document = document;
    this.#changes = [];
    this.#removed = new Set();
    this.#containers = new Map();
    this.#isFinished = false;
  }

  /** Replaces a value by JSON text, or a name node by a quoted name. */
  replace(node: NodeIndex, json: Uint8Array | string): this {
    if (node < 0) throw new GatewayError("state_violation", "cannot replace a node that is absent");
    this.#changes.push({ start: this.#document.start(node), end: this.#document.end(node), replacement: json });
    return this;
  }

  /** Adds a member after the last one of an object. */
  insertMember(object: NodeIndex, name: string, json: Uint8Array | string): this {
    if (!this.#document.isObject(object))
      throw new GatewayError("state_violation", "cannot insert a member into what is no object");
    this.#containerOf(object).inserted.push({ name, value: json });
    return this;
  }

  /** Removes a member, given its name node, or an element of an array, with one comma beside it. */
  remove(node: NodeIndex): this {
    if (node <= this.#document.root)
      throw new GatewayError("state_violation", "cannot remove the root or a node that is absent");
    this.#removed.add(node);
    return this;
  }

  /**
   * The edited text, from the first byte of the root value to its last; untouched bytes are slices of the source (short ones copied,
   * see `SegmentWriter`). May be called once. Throws `state_violation` when two edits overlap, an inserted name is in the object
   * already, or what was removed is the value of a member instead of its name node.
   */
  finish(): Segments {
    if (this.#isFinished) throw new GatewayError("state_violation", "edits were finished before");
    this.#isFinished = true;
    const removed = [...this.#removed].toSorted((a, b) => a - b);
    this.#assignRemoved(this.#document.root, removed);
    for (const [container, edits] of this.#containers) this.#resolve(container, edits);
    const changes = this.#changes.toSorted((a, b) => a.start - b.start || a.end - b.end);
    return this.#write(changes);
  }

  #containerOf(container: NodeIndex): ContainerEdits {
    let edits = this.#containers.get(container);
    if (edits === undefined) {
      edits = { removed: new Set(), inserted: [] };
      this.#containers.set(container, edits);
    }
    return edits;
  }

  /**
   * Hands each removed node, in order, to its container. One walk for all of them, because the tape links no node to its container
   * and a search per node would be quadratic. Recursion is as deep as the document, which the scan has bounded.
   */
  #assignRemoved(container: NodeIndex, nodes: readonly NodeIndex[]): void {
    const document = this.#document;
    const isObject = document.isObject(container);
    let child = this.#firstChild(container);
    let from = 0;
    while (from < nodes.length && child !== ABSENT) {
      const next = this.#nextChild(container, child);
      let to = from;
      while (to < nodes.length && (next === ABSENT || (nodes[to] as number) < next)) to++;
      if (nodes[from] === child && from < to) {
        this.#containerOf(container).removed.add(child);
        from++;
      }
      if (from < to) {
        const value = isObject ? document.memberValue(child) : child;
        if (nodes[from] === value)
          throw new GatewayError("state_violation", "a member is removed by its name node, not by its value");
        this.#assignRemoved(value, nodes.slice(from, to));
      }
      from = to;
      child = next;
    }
  }

  #firstChild(container: NodeIndex): NodeIndex {
    return this.#document.isObject(container)
      ? this.#document.firstMember(container)
      : this.#document.firstElement(container);
  }

  #nextChild(container: NodeIndex, child: NodeIndex): NodeIndex {
    return this.#document.isObject(container) ? this.#document.nextMember(child) : this.#document.nextElement(child);
  }

  /** A run of removed children goes with the comma before it, or with the comma after it when no child before it stays. */
  #resolve(container: NodeIndex, { removed, inserted }: ContainerEdits): void {
    const document = this.#document;
    const isObject = document.isObject(container);
    const names = new Set(inserted.map(({ name }) => name));
    if (names.size < inserted.length) throw new GatewayError("state_violation", "a member was inserted twice");
    let keptEnd = -1;
    let runStart = -1;
    let runEnd = -1;
    for (let child = this.#firstChild(container); child !== ABSENT; child = this.#nextChild(container, child)) {
      const start = document.start(child);
      const end = document.end(isObject ? document.memberValue(child) : child);
      if (removed.has(child)) {
        if (runStart === -1) runStart = keptEnd === -1 ? start : keptEnd;
        runEnd = end;
        continue;
      }
      if (names.size > 0 && names.has(document.memberName(child))) {
        throw new GatewayError("state_violation", "an inserted member is in the object already");
      }
      if (runStart !== -1) this.#drop(runStart, keptEnd === -1 ? start : runEnd);
      runStart = -1;
      keptEnd = end;
    }
    if (runStart !== -1) this.#drop(runStart, runEnd);
    if (inserted.length === 0) return;
    const at = keptEnd === -1 ? document.start(container) + 1 : keptEnd;
    const writer = new SegmentWriter({ coalesceBelowBytes: Infinity });
    inserted.forEach(({ name, value }, index) => {
      writer.glue(`${index > 0 || keptEnd !== -1 ? "," : ""}${encodeString(name)}:`);
      if (typeof value === "string") writer.glue(value);
      else writer.bytes(value);
    });
    for (const part of writer.finish().parts) this.#changes.push({ start: at, end: at, replacement: part });
  }

  #drop(start: number, end: number): void {
    this.#changes.push({ start, end, replacement: "" });
  }

  #write(changes: readonly Change[]): Segments {
    const { bytes } = this.#document;
    const root = this.#document.root;
    const writer = new SegmentWriter();
    let at = this.#document.start(root);
    for (const { start, end, replacement } of changes) {
      if (start < at) throw new GatewayError("state_violation", `two edits overlap at byte ${start}`);
      if (start > at) writer.raw({ bytes, start: at, end: start });
      if (typeof replacement === "string") writer.glue(replacement);
      else writer.bytes(replacement);
      at = end;
    }
    return writer.raw({ bytes, start: at, end: this.#document.end(root) }).finish();
  }
}
