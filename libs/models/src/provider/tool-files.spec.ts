import type { JsonValue } from '#libs/protocol';
import type { ModelMessage } from '../model.js';
import { TriedModel } from '../testing/tried-model.js';
import { requestedPrompt } from './prompt.js';

describe('the files in the results of tools', () => {
  const tried = new TriedModel();
  const { model, asked, sent } = tried;
  const raw = Buffer.from('an image').toString('base64');
  const image = { type: 'image', data: raw, mimeType: 'image/png' };

  const conversation = (result: JsonValue): ModelMessage[] => [
    { role: 'user', parts: [{ text: 'look' }] },
    { role: 'assistant', parts: [], toolCalls: [{ id: 'c1', name: 'see', args: {} }] },
    { role: 'tool', results: [{ id: 'c1', name: 'see', result }] },
  ];

  const sentMessages = async (result: JsonValue, input: string[]): Promise<unknown[]> => {
    await Array.fromAsync(model({ input }).streamAnswer(asked({ messages: conversation(result) })));
    return (sent()['messages'] as unknown[]).slice(2);
  };

  const line = { type: 'text', text: '[file 1: image/png, 8 bytes]' };

  it('are files for a model that takes them', async () => {
    expect(await sentMessages([{ type: 'text', text: 'here' }, image], ['image/*'])).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: JSON.stringify([{ type: 'text', text: 'here' }, line]) },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'File 1 of the tool results:' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${raw}` } },
        ],
      },
    ]);
  });

  it('are one line each for any other model', async () => {
    expect(await sentMessages([image], [])).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: JSON.stringify([line]) },
    ]);
  });

  it('are no other results', async () => {
    const others: JsonValue[] = [[{ type: 'image', data: 7 }], { type: 'image', data: raw }, [raw, null, 3]];
    for (const result of others) {
      const [message] = await sentMessages(result, ['image/*']);
      expect(message).toEqual({ role: 'tool', tool_call_id: 'c1', content: JSON.stringify(result) });
    }
  });

  it('are shown to people without their bytes', () => {
    const shown = requestedPrompt(model(), asked({ messages: conversation([image]) }));
    expect(JSON.stringify(shown)).not.toContain(raw);
  });
});
