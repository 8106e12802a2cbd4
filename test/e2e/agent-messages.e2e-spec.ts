import type { JsonObject } from '#libs/protocol';
import { answers } from '../support/fake-behaviour.js';
import { SseReader } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';

const MESSAGE = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello', mediaType: 'text/plain' }] };

describe('POST /api/agent-messages', () => {
  const stage = useSharedStage();
  const send = (body: unknown) => stage.api.call('POST', '/agent-messages', body);
  const read = async (body: JsonObject) => {
    const url = `${stage.parley.url}/api/agent-messages`;
    return (await SseReader.open<JsonObject>(url, { method: 'POST', body })).all();
  };

  it('sends a Message to an agent elsewhere and streams what it answers', async () => {
    const agent = (await stage.fake({ streaming: true })).always(answers('hi'));
    const frames = await read({ url: agent.url, message: { ...MESSAGE, contextId: 'c-1' } });
    expect(agent.sends.map(({ message }) => message)).toEqual([
      expect.objectContaining({ ...MESSAGE, contextId: 'c-1' }),
    ]);
    const kinds = frames.map(({ data }) => Object.keys(data)[0]);
    expect(kinds).toContain('artifactUpdate');
    expect(frames.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it('ends with an error that quotes the agent, or says that it cannot be reached', async () => {
    const agent = (await stage.fake()).always({ rpcError: { code: -32602, message: 'I do not like that' } });
    const refused = (await read({ url: agent.url, message: MESSAGE })).at(-1);
    expect([refused?.event, refused?.data['status']]).toEqual(['error', 502]);
    expect(refused?.data['detail']).toContain('I do not like that');
    await agent.goDown();
    expect((await read({ url: agent.url, message: MESSAGE })).map(({ event }) => event)).toEqual(['error']);
  });

  it('does not call what may not be called', async () => {
    const [frame] = await read({ url: 'http://169.254.169.254/latest', message: MESSAGE });
    expect(frame?.event).toBe('error');
  });

  it.each([
    [{ message: MESSAGE }, 'url'],
    [{ url: 'ftp://example.com', message: MESSAGE }, 'url'],
    [{ url: 'http://127.0.0.1:9' }, 'message'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, parts: [] } }, 'message'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, role: 'ROLE_AGENT' } }, 'message'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, messageId: '' } }, 'message'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, parts: ['text'] } }, 'message'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, messageId: 'm'.repeat(257) } }, 'message.messageId'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, contextId: 'a\0b' } }, 'message.contextId'],
    [{ url: 'http://127.0.0.1:9', message: { ...MESSAGE, taskId: 'a\ud800' } }, 'message.taskId'],
    [
      { url: 'http://127.0.0.1:9', message: { ...MESSAGE, referenceTaskIds: ['t', '\n'] } },
      'message.referenceTaskIds[1]',
    ],
    [[], 'url'],
  ])('refuses %j, naming %s', async (body, path) => {
    const reply = await send(body);
    expect([reply.status, reply.body]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ path })] }),
    ]);
  });
});
