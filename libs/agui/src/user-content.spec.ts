import type { ServedAgent } from '#libs/agents';
import type { JsonObject } from '#libs/protocol';
import { readRunInput, type RunInput } from './run-input.js';
import { answeringMessage, beginningMessage } from './user-content.js';

/** Returns a workflow with these inputs. */
function workflow(properties: JsonObject = {}): ServedAgent {
  const details = { skills: [], schemas: { w: { input: { type: 'object', properties }, artifacts: [] } } };
  return { path: 'workflows/w', name: 'w', details: async () => details } as unknown as ServedAgent;
}

const inputOf = (more: JsonObject = {}): RunInput => readRunInput({ threadId: 't', runId: 'r', messages: [], ...more });
const user = (content: JsonObject[] | string, id = 'u'): JsonObject => ({ id, role: 'user', content });
const partsOf = async (more: JsonObject, agent = workflow()) => (await beginningMessage(agent, inputOf(more))).parts;

describe('the Message of a run', () => {
  it.each<[string, JsonObject, JsonObject[]]>([
    [
      'data',
      { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
      [{ raw: 'AAAA', mediaType: 'image/png' }],
    ],
    ['data in the URL-safe alphabet', { type: 'image', source: { type: 'data', value: '-_8' } }, [{ raw: '+/8=' }]],
    [
      'a URL',
      { type: 'audio', source: { type: 'url', value: 'https://a.example/b' } },
      [{ url: 'https://a.example/b' }],
    ],
    [
      'data of an early client',
      { type: 'binary', data: 'AAAA', mimeType: 'a/b', filename: 'f' },
      [{ raw: 'AAAA', mediaType: 'a/b', filename: 'f' }],
    ],
    ['a file of a provider', { type: 'document', source: { type: 'file', value: 'file-1' } }, []],
    ['what is no base64', { type: 'image', source: { type: 'data', value: '?!' } }, []],
    ['what is no URL', { type: 'image', source: { type: 'url', value: 'nowhere' } }, []],
    ['a part of another kind', { type: 'hologram' }, []],
  ])('has %s of a user message, or leaves it out', async (_what, part, parts) => {
    expect(await partsOf({ messages: [user([part, { type: 'text', text: 'x' }])] })).toMatchObject([
      ...parts,
      { text: 'x' },
    ]);
  });

  it('has the newest user messages, also if a part of the answer follows them', async () => {
    const old = [user('old', 'u1'), { id: 'a1', role: 'assistant', content: 'yes' }];
    const asked = [...old, user('one', 'u2'), user('two', 'u3')];
    const begun = [...asked, { id: 'a2', role: 'assistant', content: 'par' }];
    for (const messages of [asked, begun]) {
      expect(await partsOf({ messages })).toMatchObject([{ text: 'one' }, { text: 'two' }]);
    }
  });

  it('is the same for the same request, and another one for another run', async () => {
    const [first, again, other] = await Promise.all(
      ['r', 'r', 's'].map((runId) => beginningMessage(workflow(), inputOf({ runId }))),
    );
    expect(again).toEqual(first);
    expect(other?.messageId).not.toBe(first?.messageId);
    expect(first).toMatchObject({ contextId: 't', parts: [{ text: '' }] });
  });

  it('has the inputs that the state and the forwarded properties name, and no other members of them', async () => {
    const given = { state: { a: 1, parley: {}, x: 2 }, forwardedProps: { b: 3, a: 4, y: 5 } };
    expect(await partsOf(given, workflow({ a: {}, b: {}, c: {} }))).toMatchObject([{ data: { a: 4, b: 3 } }]);
    expect(await partsOf({ state: 'text', messages: [user('x')] }, workflow({ a: {} }))).toMatchObject([{ text: 'x' }]);
  });

  it('has at most 1,000 parts', async () => {
    const messages = [user(Array.from({ length: 1_001 }, () => ({ type: 'text', text: '' })))];
    await expect(beginningMessage(workflow(), inputOf({ messages }))).rejects.toThrow('at most 1000 parts');
  });

  it('keeps what the application shows to its agents in the metadata', async () => {
    const context = [{ description: 'Page', value: 'cart' }];
    expect((await beginningMessage(workflow(), inputOf({ context }))).metadata).toEqual({ 'ag-ui/context': context });
  });
});

describe('the Message that answers', () => {
  const answer = (...answers: [id: string, payload: unknown][]) =>
    answeringMessage(workflow(), inputOf(), {
      taskId: 'task',
      answers: answers.map(([interruptId, payload]) => ({
        interruptId,
        status: 'resolved',
        payload: payload as never,
      })),
    });

  it('names the nodes that asked', () => {
    const message = answer(['task.4.a', 'yes'], ['task.5.b@2', { ok: true }]);
    expect(message).toMatchObject({ taskId: 'task', parts: [{ data: { a: 'yes', 'b@2': { ok: true } } }] });
  });

  it.each([
    ['yes', { text: 'yes' }],
    [{ ok: true }, { data: { ok: true } }],
  ])('is the answer itself for an agent without nodes: %j', (payload, part) => {
    expect(answer(['task.2.', payload]).parts).toMatchObject([part]);
  });
});
