import type { JsonObject } from '#libs/protocol';
import { rpc } from '../support/a2a.js';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { answersParts } from '../support/fake-behaviour.js';
import { ERAS, mcp, mcpClient } from '../support/mcp.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { echo, linear, Api, unique } from '../support/workflow.js';

const stage = useStage(KNOWS_CALLERS);
const { headers } = ANN;
const PNG = { raw: Buffer.alloc(30, 7).toString('base64'), mediaType: 'image/png', filename: 'chart.png' };

async function register(
  policy: JsonObject = {},
): Promise<{ agent: DoorAgent; tool: string; base: string; url: string }> {
  const agent = await DoorAgent.start();
  stage.defer(() => agent.end());
  const { name, base } = await openDoor(stage.parley.url, agent.url, { policy }, headers);
  return { agent, tool: `agents.${name}`, base, url: `${stage.parley.url}/mcp/agents/${name}` };
}

const all = (): string => `${stage.parley.url}/mcp`;

describe.each(ERAS)('the official client in %s', (_version, mode) => {
  it('finds a registered agent as a tool beside workflows, and calls it with a text, data and a skill', async () => {
    const { agent, tool, url } = await register({ skills: ['echo'] });
    const { name: workflow } = await new Api(stage.parley.url, headers).save(linear(unique('plain'), echo('e')));
    const client = await mcpClient(all(), { mode, headers });
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === tool)).toMatchObject({ description: 'Echoes each Message' });
    expect(tools.map(({ name }) => name)).toContain(workflow);
    const args = { text: 'hello', data: { list: [1, null] }, skill: 'echo' };
    const result = await client.callTool({ name: tool, arguments: args });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'hello' }, { type: 'text' }] });
    expect(JSON.parse((result.content as { text: string }[])[1]!.text)).toEqual({ list: [1, null] });
    expect(agent.heard[0]).toMatchObject({ metadata: { skillId: 'echo' } });
    await client.close();
    const alone = await mcpClient(url, { mode, headers });
    expect((await alone.listTools()).tools.map(({ name }) => name)).toEqual([tool]);
    expect(await alone.callTool({ name: tool, arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: 'text: is required, unless there is data' }],
    });
    await expect(alone.callTool({ name: workflow, arguments: {} })).rejects.toThrow(`"${workflow}" not found`);
    await expect(alone.callTool({ name: 'agents.nosuch' })).rejects.toThrow('agent "agents.nosuch" not found');
    await expect(alone.callTool({ name: tool, arguments: { text: 'x' } })).rejects.toThrow('does not take the message');
    await alone.close();
    expect(agent.heard).toHaveLength(1);
  });

  it('has its user asked where the agent asks, and continues with the answer', async () => {
    const { agent, tool } = await register({ scopes: ['agents'] });
    const questions: JsonObject[] = [];
    const answers = (question: JsonObject): JsonObject => {
      questions.push(question);
      return { action: 'accept', content: { answer: 'this one' } };
    };
    const client = await mcpClient(all(), { mode, headers, answers });
    const result = await client.callTool({ name: tool, arguments: { text: 'ask' } });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'this one' }] });
    expect(questions).toMatchObject([{ message: 'which?' }]);
    expect(agent.heard[1]?.taskId).toBe(agent.heard[0]?.taskId);
    await client.close();
  });

  it('gets a direct Message of the agent, and a file of it', async () => {
    const { tool } = await register();
    const client = await mcpClient(all(), { mode, headers });
    expect(await client.callTool({ name: tool, arguments: { text: 'direct' } })).toMatchObject({
      content: [{ type: 'text', text: 'at once' }],
    });
    const fake = await stage.fake();
    fake.always(answersParts(PNG));
    const { name } = await openDoor(stage.parley.url, fake.url, {}, headers);
    expect(await client.callTool({ name: `agents.${name}`, arguments: { text: 'draw' } })).toMatchObject({
      content: [{ type: 'image', data: PNG.raw, mimeType: 'image/png' }],
    });
    await client.close();
  });
});

it('cancels the Task of the agent with the task of a client that knows tasks', async () => {
  const { agent, tool, base } = await register();
  const called = mcp(all(), 'tools/call', { name: tool, arguments: { text: 'hold' } }, { headers });
  await agent.untilHolding();
  const { body } = await called;
  const taskId = (body.result as { taskId: string }).taskId;
  await mcp(all(), 'tasks/cancel', { taskId }, { headers });
  const stateOf = async () =>
    (await rpc<{ status: { state: string } }>(base, 'GetTask', { id: taskId }, { headers })).body.result?.status.state;
  await until(async () => (await stateOf()) === 'TASK_STATE_CANCELED', { what: 'the Task to be canceled' });
  expect(agent.holding).toEqual([]);
});
