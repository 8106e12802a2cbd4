import { readEvents, type ServerSentEvent } from './sse.js';

describe('readEvents', () => {
  it('reads events, wherever the pieces are cut', async () => {
    const text = 'id: 1\nevent: a\ndata: {"x":1}\n\n: beat\n\ndata: two\ndata: lines\nid:2\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(await read(text.slice(0, cut), text.slice(cut))).toEqual([
        { id: '1', event: 'a', data: '{"x":1}' },
        { id: '2', event: '', data: 'two\nlines' },
      ]);
    }
  });

  it('keeps an event back until it is complete', async () => {
    expect(await read('id: 1\ndata: {}\n')).toEqual([]);
  });
});

async function read(...pieces: string[]): Promise<ServerSentEvent[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}
