import type { OutboundFetch } from '#libs/http-client';
import { TriedModel } from './testing/tried-model.js';

describe('the defaults of a model', () => {
  const tried = new TriedModel();
  const { model, asked, sent, outbound } = tried;
  const defaults = { temperature: 0.2, topP: 0.9, stop: ['END'], maxTokens: 2_000 };

  it('apply to calls that set none', async () => {
    await Array.fromAsync(model({ defaults }).streamAnswer(asked()));
    expect(sent()).toMatchObject({ temperature: 0.2, top_p: 0.9, stop: ['END'], max_tokens: 2_000 });
  });

  it('yield to what a call sets, one by one', async () => {
    await Array.fromAsync(model({ defaults }).streamAnswer(asked({ temperature: 0, maxTokens: 5 })));
    expect(sent()).toMatchObject({ temperature: 0, top_p: 0.9, stop: ['END'], max_tokens: 5 });
  });

  it('end no answer that is JSON', async () => {
    await Array.fromAsync(model({ defaults }).streamAnswer(asked({ output: { type: 'object' } })));
    expect(sent()).toMatchObject({ top_p: 0.9, max_tokens: 2_000 });
    expect(sent()).not.toHaveProperty('stop');
  });

  it.each([
    [undefined, 120_000],
    [600, 600_000],
  ])('set how long a call waits for each piece: %s seconds', async (waitSeconds, ms) => {
    const limits: unknown[] = [];
    const http: OutboundFetch = (url, init) => {
      limits.push([init?.firstByteMs, init?.idleMs]);
      return outbound.fetch(url, init);
    };
    await Array.fromAsync(model({ http, defaults: { ...(waitSeconds && { waitSeconds }) } }).streamAnswer(asked()));
    expect(limits).toEqual([[ms, ms]]);
  });
});
