import { ContentRoom, InFlight, Metrics } from '#libs/service';
import { type ModelCall, ModelError, type ModelEvent } from '../model.js';
import { TriedModel } from '../testing/tried-model.js';

describe('the files of a call of a model', () => {
  const tried = new TriedModel();
  const { model, asked, sent } = tried;

  it('gives a model the files that it takes, and a line about each other one', async () => {
    const raw = Buffer.from('bytes').toString('base64');
    const parts = [
      { text: 'look' },
      { raw, mediaType: 'image/png', filename: 'a.png' },
      { raw, mediaType: 'audio/wav', filename: 'b.wav' },
      { raw, mediaType: 'text/csv', filename: 'c.csv' },
      { url: 'http://files.test/d.png', mediaType: 'image/png' },
    ];
    const files = async (): Promise<Response> => new Response('fetched');
    await all(
      model({ input: ['image/*', 'text/csv'], files }).streamAnswer(asked({ messages: [{ role: 'user', parts }] })),
    );
    expect(sent()['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${raw}` } },
          { type: 'text', text: '[file b.wav, audio/wav, 5 bytes]\n\nc.csv:\nbytes' },
          {
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${Buffer.from('fetched').toString('base64')}` },
          },
        ],
      },
    ]);
  });

  it('gives a model files of this service from their storage, as their reader has them, and fetches nothing', async () => {
    const own = 'https://parley.test/api/files/1';
    const reader = { tenant: 't', owner: 'ann' };
    const asks: unknown[] = [];
    const read = async (url: string, owner: unknown): Promise<Buffer | undefined> => {
      asks.push([url, owner]);
      return url === own ? Buffer.from('stored') : undefined;
    };
    const files = async (): Promise<Response> => new Response('fetched');
    const parts = [own, 'http://files.test/d.csv'].map((url) => ({ url, mediaType: 'text/csv' }));
    const call = asked({ messages: [{ role: 'user', parts }], reader });
    await all(model({ input: ['text/csv'], files, ownFiles: { readContent: read } }).streamAnswer(call));
    expect(sent()['messages']).toEqual([{ role: 'user', content: 'stored\n\nfetched' }]);
    expect(asks).toEqual(parts.map(({ url }) => [url, reader]));
  });

  it('fails where a file of this service cannot be read, and says no more than that', async () => {
    const read = async (): Promise<Buffer> => {
      throw new Error('relation "file" does not exist');
    };
    const parts = [{ url: 'https://parley.test/api/files/1', mediaType: 'text/csv' }];
    const call = asked({ messages: [{ role: 'user', parts }], reader: { tenant: '', owner: '' } });
    const { message } = await failed(
      model({ input: ['text/csv'], ownFiles: { readContent: read } }).streamAnswer(call),
    );
    expect(message).toMatch(/a file for the model cannot be fetched from its URL$/);
    expect(tried.llm.calls).toEqual([]);
  });

  it('reads the files of one call one after the other, up to the limit of their sum, and asks no model beyond', async () => {
    let [begun, atWork, most] = [0, 0, 0];
    const files = async (): Promise<Response> => {
      begun += 1;
      most = Math.max(most, (atWork += 1));
      await new Promise(setImmediate);
      atWork -= 1;
      return new Response(new Uint8Array(30_000));
    };
    const parts = Array.from({ length: 1_000 }, (_, n) => ({ url: `http://f.test/${n}`, mediaType: 'text/plain' }));
    const messages: ModelCall['messages'] = [0, 500].map((from) => ({
      role: 'user',
      parts: parts.slice(from, from + 500),
    }));
    const call = asked({ messages });
    const failure = await failed(model({ input: ['text/*'], files, fileLimit: 100_000 }).streamAnswer(call));
    expect([failure.message, failure.outage]).toEqual([
      'the files for a model have more than 100000 characters of base64 in one call (ARTIFACT_LIMIT)',
      undefined,
    ]);
    expect([begun, most, tried.llm.calls]).toEqual([3, 1, []]);
  });

  it('counts its files in flight while the call lasts, and may be called again where there is no room', async () => {
    const memory = { inFlightBytes: 2 ** 20, callerInFlightBytes: 2 ** 20 };
    const inFlight = new InFlight({ memory } as never, new Metrics());
    const fileRoom = new ContentRoom(inFlight, 1, { waitMs: 1 });
    const files = async (): Promise<Response> => new Response(new Uint8Array(60_000));
    const messages: ModelCall['messages'] = [
      { role: 'user', parts: [{ url: 'http://f.test/a', mediaType: 'text/plain' }] },
    ];
    const small = model({ input: ['text/*'], files, fileRoom });
    for await (const event of small.streamAnswer(asked({ messages }))) {
      if ('end' in event) break;
      // The base64 text is in memory twice: in the prompt and in the request.
      expect(inFlight.total).toBe(160_000);
      expect(await failed(small.streamAnswer(asked({ messages })))).toMatchObject({
        message: 'model "small" gave no answer: too many files are in memory for other calls',
        outage: 'overloaded',
        fallback: true,
      });
      expect(inFlight.total).toBe(160_000);
    }
    expect(inFlight.total).toBe(0);
    tried.llm.answer = () => ({ status: 500, error: 'upset' });
    await failed(small.streamAnswer(asked({ messages })));
    expect(inFlight.total).toBe(0);
  });
});

async function all(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  return Array.fromAsync(stream);
}

async function failed(stream: AsyncIterable<ModelEvent>): Promise<ModelError> {
  const error: unknown = await all(stream).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelError)) throw new Error('it did not fail with a ModelError', { cause: error });
  return error;
}
