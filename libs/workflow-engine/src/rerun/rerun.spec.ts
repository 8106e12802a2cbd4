import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { refuseWrongEdit } from '../execution/workflow-executor.js';
import { rerunMetadata, type RerunRequest } from '../state/run-metadata.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';

/** Creates agents that answer `<node id> of <text of the Message>`. */
const echoing = () => new FakeAgents((call) => call.complete(`${call.node} of ${call.text}`));

const CHAIN = workflowOf('a b c', 'a>b b>c');

async function ran(definition: WorkflowDefinition): Promise<DrivenRun> {
  const run = new DrivenRun(definition, echoing());
  await run.start();
  return run;
}

/** Plays a rerun of `origin`. Returns the run, and the ids of the nodes whose agents were called. */
async function rerun(
  origin: DrivenRun,
  request: Omit<RerunRequest, 'origin'>,
  definition = origin.definition,
  log?: readonly TaskEvent[],
): Promise<{ run: DrivenRun; called: string[] }> {
  const run = new DrivenRun(definition, echoing());
  const workflow = { definition: origin.definition, revision: 'r1', createdAt: new Date(0), updatedAt: new Date(0) };
  run.origins.set('run-0', { workflow, log: origin.log });
  if (log) await run.recover(log);
  else await run.start('hello', rerunMetadata({ origin: 'run-0', ...request }));
  const called = run.runEvents.filter(({ type }) => type === 'a2a.sending').map(({ node_id = '' }) => node_id);
  return { run, called };
}

function outputs(run: DrivenRun): unknown {
  return [...run.state.nodes.values()].map(({ id, artifacts }) => [id, artifacts]);
}

describe('a rerun', () => {
  it('takes over what is not named and does not follow, by value, and says from where', async () => {
    const origin = await ran(CHAIN);
    const { run, called } = await rerun(origin, { from: ['b'] });
    expect(called).toEqual(['b', 'c']);
    const [reused] = run.runEvents.filter(({ type }) => type === 'node.reused');
    expect(reused).toMatchObject({ node_id: 'a', payload: { origin: 'run-0' } });
    expect(run.state.getNode('a')).toMatchObject({ status: 'completed', attempts: 0, origin: 'run-0' });
    expect(run.state.status).toBe('completed');
    expect(run.state.origin).toBe('run-0');
    expect(JSON.stringify(run.state.getNode('a').artifacts)).toBe(JSON.stringify(origin.state.getNode('a').artifacts));
  });

  it('of nothing in particular takes over everything, the result included', async () => {
    const origin = await ran(CHAIN);
    const { run, called } = await rerun(origin, {});
    expect(called).toEqual([]);
    expect(outputs(run)).toEqual(outputs(origin));
    expect(run.state.results).toEqual(origin.state.results);
  });

  it('sends an edited prompt as it is, to the instance that it names alone', async () => {
    const origin = await ran(CHAIN);
    const { run, called } = await rerun(origin, { from: ['b'], edit: { node: 'b', prompt: 'say {{a}}' } });
    expect(called).toEqual(['b', 'c']);
    expect(run.state.edit).toEqual({ node: 'b', prompt: 'say {{a}}' });
    expect(run.state.getNode('b').artifacts[0]?.parts).toMatchObject([{ text: 'b of say {{a}}' }]);
    expect(run.state.getNode('c').artifacts[0]?.parts).toMatchObject([{ text: 'c of b of say {{a}}' }]);
  });

  it('with an edit of anything but an agent node, or with a text that is too long, is refused', () => {
    const definition = {
      ...CHAIN,
      nodes: CHAIN.nodes.map((node) => ({ ...node, type: node.id === 'a' ? 'agent' : 'set' })),
    };
    const refuse = (node: string, prompt: string) => (): void =>
      refuseWrongEdit(rerunMetadata({ origin: 'run-0', all: true, edit: { node, prompt } }), definition);
    expect(refuse('a', 'x')).not.toThrow();
    expect(refuse('a@2', 'x')).not.toThrow();
    for (const node of ['b', 'unknown', '']) expect(refuse(node, 'x')).toThrow('metadata.parley/rerun.edit.node');
    for (const prompt of [' ', 'x'.repeat(65_537)])
      expect(refuse('a', prompt)).toThrow('metadata.parley/rerun.edit.prompt');
  });

  it('of everything takes over nothing', async () => {
    expect((await rerun(await ran(CHAIN), { all: true })).called).toEqual(['a', 'b', 'c']);
  });

  it('goes on from wherever it was cut, and runs nothing that it takes over', async () => {
    const origin = await ran(CHAIN);
    const whole = (await rerun(origin, { from: ['c'] })).run;
    for (let cut = 1; cut < whole.log.length; cut += 1) {
      const { run } = await rerun(origin, {}, CHAIN, whole.log.slice(0, cut));
      expect([cut, run.steps.filter((step) => step.startsWith('a2a.sending'))]).toEqual([cut, ['a2a.sending c']]);
      expect(outputs(run)).toEqual(outputs(whole));
    }
  });

  it('with another definition runs what has changed, and what follows', async () => {
    const origin = await ran(CHAIN);
    const changed: WorkflowDefinition = {
      ...CHAIN,
      nodes: CHAIN.nodes.map((node) => (node.id === 'b' ? { ...node, config: { prompt: 'other' } } : node)),
    };
    expect((await rerun(origin, {}, changed)).called).toEqual(['b', 'c']);
  });

  it('calls what runs at the end again where anything else is run anew', async () => {
    const origin = await ran(workflowOf('a b end bye', 'a>b', { onExit: [{ node: 'end' }, { node: 'bye' }] }));
    expect((await rerun(origin, { from: ['b'] })).called).toEqual(['b', 'end', 'bye']);
    expect((await rerun(origin, { from: ['bye'] })).called).toEqual(['bye']);
    expect((await rerun(origin, {})).called).toEqual([]);
  });

  it('fails by name where the run that it begins with is not kept any more', async () => {
    const run = new DrivenRun(CHAIN, echoing());
    await run.start('hello', rerunMetadata({ origin: 'gone', from: ['a'] }));
    expect(run.state.status).toBe('failed');
    expect(run.state.error?.message).toBe('the run gone no longer exists');
  });
});
