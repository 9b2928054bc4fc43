// The least HTTP/1.1 that the bench's own processes need: where a message ends. They talk to each other and to the gateway only.

const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Finds whole messages with a content-length in what arrives. `onMessage(head, body)` gets the head as latin1 text and the body
 * bytes; both are only valid during the call.
 */
export class MessageReader {
  constructor(onMessage) {
    this.onMessage = onMessage;
    this.pending = null;
  }

  push(chunk) {
    let bytes = this.pending === null ? chunk : Buffer.concat([this.pending, chunk]);
    this.pending = null;
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd < 0) break;
      const head = bytes.latin1Slice(0, headEnd);
      const bodyStart = headEnd + 4;
      const match = /content-length: *(\d+)/i.exec(head);
      const bodyEnd = bodyStart + (match === null ? 0 : Number(match[1]));
      if (bytes.length < bodyEnd) break;
      this.onMessage(head, bytes.subarray(bodyStart, bodyEnd));
      bytes = bytes.subarray(bodyEnd);
      if (bytes.length === 0) return;
    }
    this.pending = Buffer.from(bytes);
  }
}
