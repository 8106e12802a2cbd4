import type { Model, ModelCall, ModelError } from '../model.js';
import { TriedModel } from '../testing/tried-model.js';
import { type FormatRequest, RefusedFormats } from './refused-formats.js';

const REQUEST: FormatRequest = { tenant: 'a', baseUrl: 'http://x', model: 'm', schema: {}, hasTools: false };

describe('refused response formats', () => {
  it('are known for the same tenant, endpoint, model, schema and use of tools only', () => {
    const refused = new RefusedFormats();
    refused.add(REQUEST);
    expect(refused.has({ ...REQUEST })).toBe(true);
    const others: Partial<FormatRequest>[] = [
      { tenant: 'b' },
      { baseUrl: 'http://y' },
      { model: 'n' },
      { schema: { type: 'object' } },
      { hasTools: true },
    ];
    for (const other of others)
      expect({ other, has: refused.has({ ...REQUEST, ...other }) }).toEqual({ other, has: false });
  });

  it('are forgotten after ten minutes, and the oldest beyond a thousand', () => {
    let now = 0;
    const refused = new RefusedFormats(() => now);
    refused.add(REQUEST);
    now = 599_999;
    expect(refused.has(REQUEST)).toBe(true);
    now = 600_000;
    expect(refused.has(REQUEST)).toBe(false);
    for (let index = 0; index <= 1_000; index += 1) refused.add({ ...REQUEST, model: `m${index}` });
    expect(['m0', 'm1', 'm1000'].map((model) => refused.has({ ...REQUEST, model }))).toEqual([false, true, true]);
  });
});

describe('a model of an endpoint that refuses a response format', () => {
  const tried = new TriedModel();
  const { model, asked } = tried;

  const all = async (from: Model, call: ModelCall): Promise<void> => {
    await Array.fromAsync(from.streamAnswer(call));
  };
  const failed = async (from: Model, call: ModelCall): Promise<ModelError> =>
    all(from, call).then(
      () => {
        throw new Error('the call did not fail');
      },
      (error: ModelError) => error,
    );

  it.each([
    [undefined, 'response_format is not supported'],
    [[{ name: 't', inputSchema: { type: 'object' } }], 'json mode cannot be combined with tools'],
  ])('sends a format that the endpoint has refused only once: tools %j', async (tools, error) => {
    tried.llm.answer = ({ response_format: format }) => (format === undefined ? '{"n":1}' : { status: 400, error });
    const refusedFormats = new RefusedFormats();
    const call = asked({ output: { type: 'object' }, ...(tools && { tools, isAnswerOnly: true }) });
    for (let count = 0; count < 3; count += 1) await all(model({ refusedFormats }), call);
    const formats = (): boolean[] => tried.llm.calls.map(({ body }) => 'response_format' in body);
    expect(formats()).toEqual([true, false, false, false]);
    await all(model({ refusedFormats, model: 'other' }), call);
    expect(formats().slice(4)).toEqual([true, false]);
  });

  it('remembers no refusal where the request is refused without a format, too', async () => {
    tried.llm.answer = () => ({ status: 400, error: 'no response_format for you' });
    const refusedFormats = new RefusedFormats();
    const call = asked({ output: { type: 'object' } });
    for (let count = 0; count < 2; count += 1) await failed(model({ refusedFormats }), call);
    expect(tried.llm.calls.map(({ body }) => 'response_format' in body)).toEqual([true, false, true, false]);
  });

  it('sends a conversation with tools and a format once where the context has no room for it', async () => {
    tried.llm.answer = () => ({ status: 400, error: 'the request exceeds the available context size' });
    const tools = [{ name: 't', inputSchema: { type: 'object' } }];
    const call = asked({ output: { type: 'object' }, tools, isAnswerOnly: true });
    expect(await failed(model(), call)).toMatchObject({ isOverflow: true, fallback: true });
    expect(tried.llm.calls).toHaveLength(1);
  });
});
