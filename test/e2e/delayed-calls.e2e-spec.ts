import { Talks } from '../support/conversation.js';
import { freePort } from '../support/free-port.mjs';
import { callingInTurn, keepModel } from '../support/kept-model.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, external, linear, type RunEvent, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
const DELAY = 'no connection (ECONNREFUSED); attempt 1 failed, further ones follow for 10 s';

/** Returns a URL at which nothing listens. */
async function closedUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}/a2a/`;
}

/** Returns the first progress of a run, which is canceled then: no test waits for the end of all attempts. */
async function firstProgress(workflow: Workflow): Promise<RunEvent> {
  await stage.api.save(workflow);
  const runId = await stage.api.start(workflow.name);
  const events = await stage.api.events(runId);
  const { data } = await events.find(({ event }) => event === 'node.progress', { what: 'progress' });
  await stage.api.call('POST', `/runs/${runId}/cancel`);
  return data;
}

describe('an agent that cannot be reached', () => {
  it('shows in the run of an external node, before the node has failed', async () => {
    const found = await firstProgress(linear(unique('away'), external('away', await closedUrl())));
    expect(found).toMatchObject({ node_id: 'away', payload: { text: DELAY } });
  });

  it('shows in the Task of the external node, if that is called directly', async () => {
    const name = unique('away');
    await stage.api.save(linear(name, external('away', await closedUrl())));
    const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const response = await fetch(`${stage.api.base(name, 'away')}/message:send`, {
      method: 'POST',
      headers: { 'A2A-Version': '1.0', 'content-type': 'application/json' },
      body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
    });
    const { task } = (await response.json()) as { task: { id: string } };
    await untilTaskShows(task.id);
  });

  it('shows in the Task of a conversation, and in the run of its node', async () => {
    const [requester, target] = [await closedUrl(), await closedUrl()];
    const talks = new Talks(stage.api);
    const id = await talks.start({ requester, target, message: 'hello', maxTurns: 1 });
    await untilTaskShows(id);
    await stage.api.call('POST', `/conversations/${id}/cancel`);
    const config = { requester, target, message: 'hello', maxTurns: 1 };
    const found = await firstProgress(linear(unique('talk'), { id: 'talk', type: 'conversation', config }));
    expect(found).toMatchObject({ node_id: 'talk', payload: { text: DELAY } });
  });

  it('shows in the run of a model that calls it as a tool', async () => {
    const [agent, model] = [await stage.fake({ name: 'desk' }), await keepModel(stage.api, (end) => stage.defer(end))];
    model.llm.answer = callingInTurn(['agent__desk'], () => void agent.goDown());
    const node = echo('a', { prompt: 'x', model: model.name, tools: [{ agent: agent.url, name: 'desk' }] });
    const found = await firstProgress(linear(unique('tool'), node));
    expect(found).toMatchObject({ node_id: 'a', payload: { tool: 'agent:desk', call: 'c0', text: DELAY } });
  });
});

/** Waits until the log of a Task shows why its agent does not answer. */
async function untilTaskShows(taskId: string): Promise<void> {
  const shows = async (): Promise<boolean> =>
    (await stage.api.call('GET', `/tasks/${taskId}/events`)).text.includes(DELAY);
  await until(shows, { what: `the Task ${taskId} to show its delay` });
}
