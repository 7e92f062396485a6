// Server-sent events with fetch, because EventSource cannot send the token. Reconnects after the last id.

/** @typedef {{ type: string, id: string, data: any }} StreamEvent */

/**
 * The events of a stream, across reconnects, until the server ends it.
 * @param {(headers: Record<string, string>) => Promise<Response>} open
 * @param {{ signal?: AbortSignal, wait?: number, once?: boolean, onLost?: (error: unknown) => void, onOpen?: () => void }} [options]
 * @returns {AsyncGenerator<StreamEvent>}
 */
export async function* events(open, { signal, wait = 1000, once = false, onLost, onOpen } = {}) {
  let last = "";
  for (;;) {
    try {
      const reply = await open(last ? { "last-event-id": last } : {});
      onOpen?.();
      for await (const event of read(reply)) {
        if (event.id) last = event.id;
        yield event;
      }
      return; // the server ends a stream only after the last event
    } catch (error) {
      if (signal?.aborted) return;
      if (once || /** @type {any} */ (error)?.final) throw error;
      onLost?.(error);
    }
    await new Promise((go) => setTimeout(go, wait));
    if (signal?.aborted) return;
  }
}

/** The events of one response. @param {Response} reply @returns {AsyncGenerator<StreamEvent>} */
export async function* read(reply) {
  const body = /** @type {ReadableStream<Uint8Array>} */ (reply.body);
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** One block of a stream; null for a comment. @param {string} block @returns {StreamEvent | null} */
export function parse(block) {
  let type = "message";
  let id = "";
  let data = "";
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const key = line.slice(0, at);
    const value = line.slice(at + 1).replace(/^ /, "");
    if (key === "event") type = value;
    else if (key === "id") id = value;
    else if (key === "data") data += (data ? "\n" : "") + value;
  }
  return data ? { type, id, data: JSON.parse(data) } : null;
}
