import type { JsonObject, JsonValue } from '#libs/protocol';
import { message, rest, rpc, type RpcError } from '../../support/a2a.js';
import { useSharedStage } from '../../support/shared-stage.js';
import { input, linear, ruled, says, script, unique, type WorkflowNode } from '../../support/workflow.js';

const stage = useSharedStage();
let base: string;

beforeAll(async () => {
  const { name } = await stage.api.save(linear(unique('small'), script('a', ...says('here'))));
  base = stage.api.base(name, 'a');
});

const MEMBERS = 'has more than 50000 members and elements (JSON_MEMBERS_LIMIT)';
const keys = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
const rule = (text: string): JsonObject => ({ when: { text }, steps: [{ complete: text }] });
const rules = (count: number, text: (index: number) => string): JsonObject[] =>
  Array.from({ length: count }, (_, index) => rule(text(index)));

describe('scripts that would take seconds to compile are refused at save', () => {
  it.each<[string, WorkflowNode[], string]>([
    [
      '1,000 regular expressions',
      Array.from({ length: 10 }, (_, node) =>
        ruled(
          `a${node}`,
          rules(100, (index) => `(hello|w${index})[a-z]+\\s*(foo|bar)*${node}(x{1,5}y?)+[0-9]{2,4}`),
        ),
      ),
      'the regular expressions of the workflow have more than 16384 characters (EXPRESSIONS_LIMIT)',
    ],
    [
      '600 rules',
      [ruled('a', rules(600, String))],
      'script node "a": rules must not have more than 200 entries (SCRIPT_RULES_LIMIT)',
    ],
    [
      'expressions that compile to much',
      [
        ruled(
          'a',
          rules(100, (index) => `(?:(?:a?b){30}){20}${index}`),
        ),
      ],
      'script node "a": the regular expressions of the workflow have more than 20000 instructions (EXPRESSION_SIZE_LIMIT)',
    ],
  ])('%s', async (_what, nodes, fault) => {
    const reply = await stage.api.call<{ errors: { detail: string }[] }>('POST', '/workflows', {
      name: unique('regex'),
      nodes,
      edges: [],
    });
    expect(reply.status).toBe(422);
    expect(reply.body.errors[0]?.detail).toContain(fault);
    expect(reply.body.errors.length).toBeLessThanOrEqual(100);
  });

  it('what is not too much is saved, and used', async () => {
    const workflow = linear(
      unique('regex'),
      ruled(
        'a',
        rules(200, (index) => `^number ${index}$`),
      ),
    );
    await stage.api.save(workflow);
    const reply = await rpc(stage.api.base(workflow.name, 'a'), 'SendMessage', params([{ text: 'number 199' }]));
    expect(JSON.stringify(reply.body)).toContain('^number 199$');
  });
});

const params = (parts: JsonValue[]): JsonObject => ({ message: { ...message('x'), parts } }) as unknown as JsonObject;

describe('JSON with too many members is refused before it is parsed', () => {
  const elements = (count: number): JsonValue[] => [{ data: Array.from({ length: count }, () => []) }];

  it('over JSON-RPC', async () => {
    const { body, status } = await rpc(base, 'SendMessage', params([{ data: keys(100_000) }]));
    expect({ status, error: body.error }).toMatchObject({
      status: 200,
      error: { code: -32600, message: `The body ${MEMBERS}` } satisfies Partial<RpcError>,
    });
    expect((await rpc(base, 'SendMessage', params(elements(200_000)))).body.error?.message).toContain(MEMBERS);
    expect((await rpc(base, 'SendMessage', params(elements(40_000)))).body.error).toBeUndefined();
  });

  it('over REST', async () => {
    const reply = await rest(base, 'POST', '/message:send', { body: params(elements(200_000)) });
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain(MEMBERS);
  });

  it.each<[string, string, JsonValue]>([
    ['a workflow', '/workflows', { name: 'x', nodes: [], edges: [], more: keys(100_000) }],
    ['a conversation', '/conversations', { target: 'x', message: 'y', auth: keys(100_000) }],
    ['a brainstorm', '/brainstorms', { idea: 'x', agents: [], more: keys(100_000) }],
  ])('of %s', async (_what, path, body) => {
    const reply = await stage.api.call('POST', path, body);
    expect(reply.status).toBe(400);
    expect(reply.body.detail).toBe(`the body ${MEMBERS}`);
  });

  it('of the inputs of a run, on both routes', async () => {
    const { name } = await stage.api.save(linear(unique('run'), input('a')));
    for (const path of ['run', 'runs']) {
      const reply = await stage.api.call('POST', `/workflows/${name}/${path}`, { inputs: { a: keys(100_000) } });
      expect([reply.status, reply.body.detail]).toEqual([400, `the body ${MEMBERS}`]);
    }
  });

  it('and a run has no more inputs than a workflow has nodes', async () => {
    const { name } = await stage.api.save(linear(unique('run'), input('a')));
    const reply = await rpc(
      `${stage.parley.url}/a2a/workflows/${name}`,
      'SendMessage',
      params([{ data: keys(2_000) }]),
    );
    expect(reply.body.error?.message).toContain('a run has at most 1000 inputs');
  });
});

describe('answers to what is wrong a thousand times', () => {
  it('name the first hundred', async () => {
    const nodes = Array.from({ length: 1_000 }, () => ({}));
    const reply = await stage.api.call<{ errors: unknown[] }>('POST', '/workflows', { name: 'x', nodes });
    expect([reply.status, reply.body.errors.length]).toEqual([400, 100]);
    expect(reply.text.length).toBeLessThan(50_000);
  });
});
