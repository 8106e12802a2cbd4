/** Frame of a stream of server-sent events (WHATWG HTML, section 9.2.6). */
export interface EventFrame {
  id: string;
  event: string;
  data: string;
}

const LINE_END = /\r\n|\n|\r(?!$)/;

/**
 * Yields the frames of a body as they arrive. A frame that is cut off at the end is dropped.
 * @param onBytes called whenever bytes arrive, comments included
 */
export async function* eventFrames(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<EventFrame, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let frame: EventFrame = { id: '', event: 'message', data: '' };
  let complete = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes();
      const lines = (rest + decoder.decode(value, { stream: true })).split(LINE_END);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (complete) yield { ...frame, data: frame.data.slice(0, -1) };
          frame = { id: frame.id, event: 'message', data: '' };
          complete = false;
          continue;
        }
        const [, name, text = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (name === 'id') frame.id = text;
        if (name === 'event') frame.event = text;
        if (name === 'data') {
          frame.data += `${text}\n`;
          complete = true;
        }
      }
    }
  } finally {
    // A reader that stops in the middle closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}
