import { useSharedStage } from '../../support/shared-stage.js';
import { echo, linear, unique } from '../../support/workflow.js';

const DEEP = 20_000;
const LISTS = (inner: string): string => `${'['.repeat(DEEP)}${inner}${']'.repeat(DEEP)}`;
const OBJECTS = (inner: string): string => `${'{"a":'.repeat(DEEP)}${inner}${'}'.repeat(DEEP)}`;

/** Members of a body: what is deep before, after and around a number that is none. */
const MEMBERS = [LISTS, OBJECTS].flatMap((deep) => [
  `"deep":${deep('0')},"n":1e999`,
  `"n":1e999,"deep":${deep('0')}`,
  `"deep":${deep('1e999')}`,
]);

const stage = useSharedStage();
let name: string;

beforeAll(async () => {
  name = unique('deep');
  await stage.api.save(linear(name, echo('a')));
});

async function sent(path: string, body: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
  const reply = await fetch(`${stage.parley.url}${path}`, init);
  return [reply.status, await reply.text()];
}

describe('a body that is nested deep and has a number that is none', () => {
  it.each([
    ['/api/workflows'],
    ['/api/workflows/{name}/run'],
    ['/api/workflows/{name}/runs'],
    ['/api/expressions/check'],
    ['/api/conversations'],
    ['/api/brainstorms'],
    ['/api/mcp-servers'],
    ['/api/agents'],
    ['/api/models'],
    ['/api/schedules'],
    ['/api/triggers'],
    ['/api/credentials'],
    ['/api/apply'],
    ['/api/agent-messages'],
    ['/agui/workflows/{name}'],
  ])('is a 400 at %s', async (path) => {
    for (const members of MEMBERS) {
      const [status, text] = await sent(path.replace('{name}', name), `{${members}}`);
      expect([status, text]).toEqual([400, expect.stringMatching(/nested deeper than 100 levels|finite number/)]);
      expect(text.length).toBeLessThan(2_000);
    }
  });

  it('is a problem of the definition where one is checked', async () => {
    for (const members of MEMBERS) {
      const [status, text] = await sent('/api/workflows/check', `{${members}}`);
      expect([status, text]).toEqual([200, expect.stringMatching(/nested deeper than 100 levels|finite number/)]);
    }
  });

  it('is refused by MCP and by every binding of A2A, which go on', async () => {
    const message = (members: string): string => `{"messageId":"m","role":"ROLE_USER","parts":[{"data":{${members}}}]}`;
    for (const members of MEMBERS) {
      const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${members}}}`;
      const accept = { accept: 'application/json, text/event-stream' };
      const rpc = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${message(members)}}}`;
      const version = { 'a2a-version': '1.0' };
      const replies = [
        await sent('/mcp', call, accept),
        await sent(`/a2a/workflows/${name}`, rpc, version),
        await sent(`/a2a/workflows/${name}/message:send`, `{"message":${message(members)}}`, version),
        await sent(
          `/a2a/workflows/${name}`,
          rpc.replace('SendMessage', 'message/send').replace('"data"', '"kind":"data","data"'),
        ),
      ];
      for (const [status, text] of replies) {
        expect([200, 400]).toContain(status);
        expect(text).toMatch(/nested deeper than 100 levels|finite number/);
      }
    }
    expect(await stage.api.finish(linear(unique('deep'), echo('a')))).toMatchObject({ status: 'completed' });
  });
});
