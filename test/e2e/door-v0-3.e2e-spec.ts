import { outline, rpc, sendTask, stream } from '../support/a2a.js';
import { type AskingAgent, startAskingAgent } from '../support/asking-sdk-agent.js';
import type { AskingAgentOptions } from '../support/asking-turn.js';
import { openDoor } from '../support/doors.js';
import { useSharedStage } from '../support/shared-stage.js';

const stage = useSharedStage();

async function startAgent(options: Omit<AskingAgentOptions, 'version'>): Promise<AskingAgent> {
  const agent = await startAskingAgent({ version: '0.3', ...options });
  stage.defer(() => agent.stop());
  return agent;
}

describe.each([
  ['JSONRPC', true],
  ['JSONRPC', false],
  ['HTTP+JSON', true],
  ['HTTP+JSON', false],
] as const)('the door before an agent of the SDK for A2A 0.3 over %s (streaming: %p)', (binding, streaming) => {
  it('passes questions up and answers down, and has the card of the agent in 1.0', async () => {
    const agent = await startAgent({ binding, streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const card = await fetch(`${base}/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({
      ...{ name: 'asking', description: 'Asks two questions', version: '1' },
      supportedInterfaces: expect.arrayContaining([expect.objectContaining({ url: base, protocolVersion: '1.0' })]),
    });
    const asked = await sendTask(base, 'begin');
    expect(asked.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Name?' }] } });
    const { id: taskId, contextId } = asked;
    const again = await sendTask(base, 'Ann', { fields: { taskId } });
    expect(again.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Colour?' }] },
    });
    const done = await sendTask(base, 'green', { fields: { taskId, contextId } });
    expect([done.status.state, done.id, done.contextId]).toEqual(['TASK_STATE_COMPLETED', taskId, contextId]);
    expect(done.artifacts?.[0]?.parts.map(({ text }) => text)).toEqual(['Ann likes ', 'green']);
  });

  it('streams what the agent says, and cancels its Task', async () => {
    const waiting = Promise.withResolvers<void>();
    const agent = await startAgent({ binding, streaming, onWait: waiting.resolve });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const said = (await (await stream(base, 'tell')).all()).map(({ data }) => data.result!);
    const artifacts = said.map(outline).filter((it) => it.startsWith('artifact'));
    expect(artifacts.join('').replaceAll(/artifact |\|/g, '')).toBe('one two');
    expect(outline(said.at(-1)!)).toBe('status TASK_STATE_COMPLETED');
    const { id } = await sendTask(base, 'wait', { configuration: { returnImmediately: true } });
    await waiting.promise;
    const { body } = await rpc<{ status: object }>(base, 'CancelTask', { id });
    expect(body.result?.status).toMatchObject({ state: 'TASK_STATE_CANCELED' });
  });
});
