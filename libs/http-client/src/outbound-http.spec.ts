import { Readable } from 'node:stream';
import { toOutboundRequest } from './outbound-http.js';

describe('toOutboundRequest', () => {
  it('listens for errors of a streamed body, which may break off when nobody sends it any more', async () => {
    const file = new Readable({ read: () => undefined });
    const sent = await toOutboundRequest('http://127.0.0.1/', {
      method: 'PUT',
      body: Readable.toWeb(file) as unknown as NonNullable<RequestInit['body']>,
    });
    const body = sent.body as Readable;
    // Without a listener the error would end the process.
    expect(body.listenerCount('error')).toBeGreaterThan(0);
    const closed = new Promise((resolve) => body.once('close', resolve));
    file.destroy();
    await closed;
    expect(body.errored).toMatchObject({ name: 'AbortError' });
  });
});
