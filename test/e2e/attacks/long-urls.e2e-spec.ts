import { rpc, sendParams } from '../../support/a2a.js';
import { CardAgent } from '../../support/card-agent.js';
import { useSharedStage } from '../../support/shared-stage.js';
import { rewriteStored } from '../../support/stored-definition.js';
import { echo, external, linear, unique } from '../../support/workflow.js';

const RULE = 'must have at most 2048 characters';
/** What takes minutes where the time grows with the square of its slashes. */
const SLASHES = 900_000;
/** As many fit into a definition. */
const SAVED = 200_000;
const LONG = `http://127.0.0.1:9/${'/'.repeat(SLASHES)}a`;
const stage = useSharedStage();

describe('a URL without end is refused', () => {
  it.each([
    ['slashes at its end', `http://127.0.0.1:9${'/'.repeat(SAVED)}`],
    ['slashes before a letter', `http://127.0.0.1:9/${'/'.repeat(SAVED)}a`],
    ['groups of slashes', `http://127.0.0.1:9/${'///a'.repeat(SAVED / 4)}`],
    ['one character too many', `http://127.0.0.1:9/${'a'.repeat(2_030)}`],
  ])('at save, as the endpoint of a node with %s', async (_what, url) => {
    const reply = await stage.api.call('POST', '/workflows', linear(unique('long'), external('x', url)));
    expect({ status: reply.status, text: reply.text }).toEqual({ status: 422, text: expect.stringContaining(RULE) });
    expect(reply.text.length).toBeLessThan(10_000);
  });

  it('at save, only where it is too long', async () => {
    const url = `http://127.0.0.1:9/${'a'.repeat(2_029)}`;
    await stage.api.save(linear(unique('long'), external('x', url)));
  });

  it.each<[string, number, [string, unknown]]>([
    ['the target of a conversation', 422, ['/conversations', { target: LONG, message: 'x' }]],
    ['its requester', 422, ['/conversations', { requester: LONG, target: 'a', message: 'x' }]],
    ['an agent of a brainstorm', 422, ['/brainstorms', { idea: 'x', agents: [{ agent: LONG }, { agent: 'b' }] }]],
    ['the receiver of an agent message', 400, ['/agent-messages', { url: LONG, message: {} }]],
    [
      'the endpoint of a model',
      400,
      ['/models', { name: 'm', provider: 'openai-compatible', model: 'm', baseUrl: LONG }],
    ],
    ['a registered agent', 400, ['/agents', { name: 'a', url: LONG }]],
    ['an MCP server', 400, ['/mcp-servers', { name: 'm', url: LONG }]],
  ])('as %s', async (_what, status, [path, body]) => {
    const reply = await stage.api.call('POST', path, body);
    expect(reply.status).toBe(status);
    expect(reply.text.length).toBeLessThan(10_000);
  });

  it('in a card, which is not called', async () => {
    const agent = await CardAgent.start();
    stage.defer(() => agent.stop());
    for (const protocolBinding of ['JSONRPC', 'HTTP+JSON']) {
      const interfaces = [{ url: `${agent.url}/${'/'.repeat(SLASHES)}a`, protocolBinding, protocolVersion: '1.0' }];
      agent.card = agent.plainCard({ supportedInterfaces: interfaces });
      const run = await stage.api.finish(linear(unique('long'), external('x', agent.url)));
      expect(run.error?.message).toContain(`the agent card is refused: its URLs ${RULE}`);
      const below = await stage.api.finish(linear(unique('long'), external('x', `${agent.url}/below`)));
      expect(below.status).toBe('failed');
    }
    expect(agent.messages).toBe(0);
  });

  it('in a stored definition, where its run and its node say so and every other run goes on', async () => {
    const { name } = await stage.api.save(linear(unique('long'), external('x', 'http://127.0.0.1:9/agent')));
    await rewriteStored(stage.database, name, (definition) => {
      definition.nodes[0]!.config = { endpoint_url: LONG };
    });
    const run = await stage.api.ended(await stage.api.start(name));
    expect(run.error?.message).toContain(`endpoint_url ${RULE}`);
    expect(JSON.stringify(run).length).toBeLessThan(20_000);
    const { body } = await rpc(stage.api.base(name, 'x'), 'SendMessage', sendParams('hi'));
    expect(JSON.stringify(body)).toContain(RULE);
    expect(JSON.stringify(body).length).toBeLessThan(20_000);
    expect((await stage.api.finish(linear(unique('other'), echo('a')))).status).toBe('completed');
  });
});
