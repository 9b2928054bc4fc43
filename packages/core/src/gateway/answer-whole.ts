/**
 * Reads a whole JSON answer. A client of the same dialect gets its bytes; one of another dialect gets it translated; a streaming
 * client whose upstream answered whole gets the stream that the answer stands for.
 */
import type { NeutralError, NeutralResponse } from "../ir/index.ts";
import { eventsOfResponse, ResponseAssembler } from "../ir/index.ts";
import type { Document, JsonSyntaxError, ScannerPool } from "../json/index.ts";
import { MemberFinder } from "../stream/index.ts";
import type { AnswerOutlet, AnswerReader, ReaderOptions } from "./answer-reader.ts";
import { ChunkList } from "./chunk-list.ts";
import { brokenAnswer } from "./failures.ts";

/**
 * Scans a whole answer and hands its document to `use`, which must not keep it: the scanner is lent, since making one costs more
 * than a small answer takes to scan (0.5 KB: 2.3 µs with a scanner of its own, 0.7 with a lent one, Node 24). Anything but one
 * JSON object is a broken answer, which is returned.
 */
function readObject(scanners: ScannerPool, body: Uint8Array, use: (document: Document) => void): NeutralError | null {
  const scanner = scanners.take(body.byteLength);
  try {
    const document = scanner.scan(body);
    // A scanner that returns no document has set its error.
    if (document === null) return notJson(scanner.error as JsonSyntaxError);
    if (!document.isObject(document.root)) return brokenAnswer("The provider's answer is not a JSON object.");
    use(document);
    return null;
  } finally {
    scanners.give(scanner);
  }
}

const notJson = (error: JsonSyntaxError): NeutralError =>
  brokenAnswer(`The provider's answer is not valid JSON (${error.code} at byte ${error.offset}).`);

abstract class WholeReader implements AnswerReader {
  readonly isStopped = false;
  protected readonly options: ReaderOptions;
  protected readonly outlet: AnswerOutlet;
  readonly #chunks: ChunkList = new ChunkList();
  readonly #maxBytes: number;
  #isDone = false;

  protected constructor(options: ReaderOptions, maxBytes: number) {
    this.options = options;
    this.outlet = options.outlet;
    this.#maxBytes = maxBytes;
  }

  protected abstract whole(body: Uint8Array, document: Document): void;

  data(chunk: Uint8Array): void {
    if (this.#isDone) return;
    this.#chunks.add(chunk);
    if (this.#chunks.byteLength > this.#maxBytes) {
      this.#isDone = true;
      this.outlet.fail(brokenAnswer("The provider's answer is larger than allowed."), false);
    }
  }

  end(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const body = this.#chunks.take();
    const error = readObject(this.options.scanners, body, (document) => this.whole(body, document));
    if (error !== null) this.outlet.fail(error, false);
  }
}

/** Translates, or rewrites to the dialect's standard shape. */
export class TranslateWholeReader extends WholeReader {
  constructor(options: ReaderOptions) {
    super(options, options.limits.maxResponseBytes);
  }

  protected override whole(_body: Uint8Array, document: Document): void {
    const decoded = this.options.provider.decodeResponse(document, this.options.decodeContext);
    if (!decoded.ok) {
      this.outlet.fail(decoded.error, false);
      return;
    }
    noteResponse(this.outlet, decoded.response);
    const broken = brokenStop(decoded.response);
    if (broken !== null) {
      this.outlet.fail(broken, false);
      return;
    }
    const response = tapWhole(this.options, decoded.response);
    const encoded = this.options.client.encodeResponse(response, this.options.answerContext);
    if (encoded.ok) this.outlet.whole(encoded.body);
    else this.outlet.fail(encoded.error, false);
  }
}

/** Makes the stream that a whole answer stands for, for a client that asked for a stream. */
export class StreamedWholeReader extends WholeReader {
  constructor(options: ReaderOptions) {
    super(options, options.limits.maxResponseBytes);
  }

  protected override whole(_body: Uint8Array, document: Document): void {
    const { provider, client, decodeContext, answerContext } = this.options;
    const decoded = provider.decodeResponse(document, decodeContext);
    const broken = decoded.ok ? brokenStop(decoded.response) : decoded.error;
    if (!decoded.ok || broken !== null) {
      this.outlet.fail(broken ?? brokenAnswer("The provider's answer cannot be read."), false);
      return;
    }
    noteResponse(this.outlet, decoded.response);
    // The answer is whole, so nothing has to wait behind the gate and its bound.
    const pieces: Uint8Array[] = [];
    const encoder = client.createStreamEncoder(answerContext, (bytes) => {
      pieces.push(bytes);
    });
    for (const event of eventsOfResponse(tapWhole(this.options, decoded.response))) {
      const refusal = encoder.encode(event);
      if (refusal === null) continue;
      this.outlet.fail(refusal, false);
      return;
    }
    this.outlet.commit();
    for (const bytes of pieces) this.outlet.write(bytes);
    this.outlet.complete();
  }
}

/** Answers a token count. */
export class CountReader extends WholeReader {
  constructor(options: ReaderOptions) {
    super(options, options.limits.maxHeldResponseBytes);
  }

  protected override whole(_body: Uint8Array, document: Document): void {
    const count = this.options.provider.decodeTokenCount(document);
    if (count.ok) this.outlet.whole(this.options.client.encodeTokenCount(count.count));
    else this.outlet.fail(count.error, false);
  }
}

/**
 * Forwards a whole answer of the client's own dialect. Up to `maxHeldResponseBytes` it is checked before the client sees a
 * byte; a larger one is committed and passes in pieces, its usage found on the way.
 */
export class ForwardWholeReader implements AnswerReader {
  readonly isStopped = false;
  readonly #options: ReaderOptions;
  readonly #outlet: AnswerOutlet;
  readonly #chunks: ChunkList = new ChunkList();
  #usageFinder: MemberFinder | null = null;
  #isDone = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#outlet = options.outlet;
  }

  data(chunk: Uint8Array): void {
    if (this.#isDone) return;
    if (this.#usageFinder !== null) {
      this.#usageFinder.push(chunk);
      this.#outlet.write(Buffer.from(chunk));
      return;
    }
    this.#chunks.add(chunk);
    if (this.#chunks.byteLength > this.#options.limits.maxHeldResponseBytes && this.#options.taps === null)
      this.#passInPieces();
    else if (this.#chunks.byteLength > this.#options.limits.maxResponseBytes) {
      this.#isDone = true;
      this.#outlet.fail(brokenAnswer("The provider's answer is larger than allowed."), false);
    }
  }

  end(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    if (this.#usageFinder !== null) this.#endPieces(this.#usageFinder);
    else this.#endHeld();
  }

  #passInPieces(): void {
    const held = this.#chunks.take();
    // What starts like no JSON object is no answer; everything else is only known at its end.
    if (held[held.findIndex((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)] !== 0x7b) {
      this.#isDone = true;
      this.#outlet.fail(brokenAnswer("The provider's answer is not a JSON object."), false);
      return;
    }
    this.#usageFinder = new MemberFinder({ name: "usage", maxBytes: this.#options.limits.maxErrorBytes });
    this.#usageFinder.push(held);
    this.#outlet.hasContent = true;
    this.#outlet.write(held);
    this.#outlet.commit();
  }

  #endPieces(finder: MemberFinder): void {
    const found = finder.finish();
    if (found.value !== null) this.#readUsage(found.value);
    if (found.complete) this.#outlet.complete();
    else this.#outlet.fail(brokenAnswer("The provider's answer ended early."), false);
  }

  /** The usage member is read by the dialect out of an answer that holds nothing else. */
  #readUsage(value: Uint8Array): void {
    const only = Buffer.concat([Buffer.from('{"usage":'), value, Buffer.from("}")]);
    const { provider, decodeContext, scanners } = this.#options;
    // A member that is no JSON is no usage; the answer itself has passed.
    readObject(scanners, only, (document) => {
      const usage = provider.readUsage(document, decodeContext);
      if (usage !== null) this.#outlet.usage = usage;
    });
  }

  #endHeld(): void {
    const body = this.#chunks.take();
    const error = readObject(this.#options.scanners, body, (document) => this.#deliver(body, document));
    if (error !== null) this.#outlet.fail(error, false);
  }

  #deliver(body: Uint8Array, document: Document): void {
    const observed = this.#options.provider.observeResponse(document, this.#options.decodeContext);
    if (!observed.ok) {
      this.#outlet.fail(observed.error, false);
      return;
    }
    this.#tap(document);
    this.#outlet.hasContent = true;
    this.#outlet.usage = observed.usage;
    this.#outlet.stopWord = observed.stopWord;
    this.#outlet.whole(body);
  }

  /** Lets event hooks look on; they cannot change what is forwarded. */
  #tap(document: Document): void {
    if (this.#options.taps === null) return;
    const decoded = this.#options.provider.decodeResponse(document, this.#options.decodeContext);
    if (decoded.ok) tapWhole(this.#options, decoded.response);
  }
}

/** Passes a whole answer through the event hooks as the stream that it stands for. */
const tapWhole = ({ taps }: ReaderOptions, response: NeutralResponse): NeutralResponse => {
  if (taps === null) return response;
  const assembler = new ResponseAssembler();
  for (const event of eventsOfResponse(response)) for (const passed of taps.pass(event)) assembler.add(passed);
  return taps.writes ? { ...assembler.response(), ...keptMembers(response) } : response;
};

/** What the events of a whole answer do not carry, and hooks therefore cannot change. */
const keptMembers = ({ created, extensions }: NeutralResponse): Pick<NeutralResponse, "created" | "extensions"> => ({
  extensions,
  ...(created === undefined ? {} : { created }),
});

const noteResponse = (outlet: AnswerOutlet, response: NeutralResponse): void => {
  outlet.hasContent = true;
  outlet.usage = response.usage ?? null;
  outlet.stopWord = response.candidates[0]?.stop.raw ?? null;
};

/** A stop that is no answer but an error. */
const brokenStop = (response: NeutralResponse): NeutralError | null => {
  for (const { stop } of response.candidates)
    if (stop.reason === "error" || stop.reason === "malformed-tool-call")
      return stop.error ?? brokenAnswer("The model made a call that cannot be used.");
  return null;
};
