import { setImmediate as turn } from 'node:timers/promises';
import { AgentCallError } from '#libs/a2a-client';
import { BRAINSTORM_ENTRY, BrainstormEntries } from '#libs/agents';
import type { JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { toBrainstormEvent } from './api/brainstorms.js';
import { ACCEPTED_STATE_SCHEMA, type CanonicalState, STATE_SCHEMA } from './core/canonical-state.js';
import { type Behaviour, CALL_CHAINS, DrivenBrainstorm, FakeAgents, specOf } from './testing/driven-brainstorm.js';

const STEP = { title: 'Begin', description: 'one two three four five six seven eight nine ten' };

const agrees: Behaviour = ({ state }) => ({
  execution_plan: [STEP],
  metrics: { confidence: 0.9 },
  assumptions: [...state.assumptions, `${state.meta.iteration}`],
});

function agentsThat(behaviours: Record<string, Behaviour>): FakeAgents {
  return new FakeAgents((agent) => behaviours[agent] ?? agrees);
}

/** Returns the events of a log as texts, without the parts that differ between runs: times and random ids. */
function outline(log: readonly TaskEvent[]): string[] {
  return log.map((event, index) => {
    const { type, payload } = toBrainstormEvent({ taskId: 't', sequence: index + 1, event, json: '' });
    return `${type} ${JSON.stringify(payload).replace(/"messageId":"[^"]*"|task-[0-9a-f-]+/g, '')}`;
  });
}

function types(log: readonly TaskEvent[]): string[] {
  return outline(log).map((line) => line.split(' ')[0] ?? '');
}

describe('BrainstormExecutor', () => {
  it('goes through passes until they converge, and rests then', async () => {
    const agents = agentsThat({});
    const storm = new DrivenBrainstorm(agents);
    expect(await storm.start()).toBe('TASK_STATE_INPUT_REQUIRED');
    const pass = ['agent.started', 'agent.phase', 'agent.completed'];
    const passed = ['iteration.started', ...pass, ...pass, 'iteration.completed'];
    expect(types(storm.log)).toEqual(['brainstorm.started', ...passed, ...passed, 'brainstorm.converged']);
    expect(storm.progress.status).toBe('converged');
    expect(storm.task.artifacts).toHaveLength(1);
    expect(storm.task.artifacts?.[0]?.parts[0]?.data).toEqual(storm.progress.state);
    expect(storm.task.status.message?.parts[0]?.text).toMatch(/^Converged in iteration 2/);
  });

  it('J12 after a crash anywhere it comes to the same end, and nobody whose answer is in the log is asked again', async () => {
    const whole = new DrivenBrainstorm(agentsThat({}), specOf(['a', 'b', 'c'], { maxIterations: 2 }));
    await whole.start();
    const reported = outline(whole.log);
    const ids = whole.agents.calls.map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(6);
    for (let cut = 1; cut < whole.log.length; cut += 1) {
      const agents = agentsThat({});
      for (const [id, responses] of whole.agents.kept) agents.kept.set(id, responses);
      const rest = new DrivenBrainstorm(agents, whole.spec);
      await rest.recover(whole.log.slice(0, cut));
      expect(outline(rest.log)).toEqual(reported);
      const answered = types(whole.log.slice(0, cut)).filter((type) => type === 'agent.completed').length;
      const followed = agents.calls.filter(({ kind }) => kind === 'follow').length;
      const sent = agents.calls.filter(({ kind }) => kind === 'send').map(({ messageId }) => messageId);
      expect(sent).toEqual(ids.slice(answered + followed));
    }
  });

  it('cancels an agent that asks before it records that', async () => {
    const agents = agentsThat({ b: () => 'ask' });
    agents.canceling = () => turn();
    const storm = new DrivenBrainstorm(agents);
    const canceled: number[] = [];
    storm.onEvent = () => {
      if (types(storm.log).at(-1) === 'agent.error') canceled.push(agents.cancels.length);
    };
    await storm.start();
    expect(canceled).toEqual([1]);
  });

  it('no call is made before it is durable that it will be', async () => {
    const seen: boolean[] = [];
    const storm: DrivenBrainstorm = new DrivenBrainstorm(
      agentsThat({
        b: (...call) => {
          seen.push(storm.durable === storm.log.length && types(storm.log).at(-1) === 'agent.started');
          return agrees(...call);
        },
      }),
    );
    await storm.start();
    expect(seen).toEqual([true, true]);
  });

  it('a Task that the agent has forgotten is asked for again with the same Message', async () => {
    const whole = new DrivenBrainstorm(agentsThat({}), specOf(['a', 'b'], { maxIterations: 1 }));
    await whole.start();
    const cut = types(whole.log).indexOf('agent.phase') + 1;
    const rest = new DrivenBrainstorm(agentsThat({}), whole.spec);
    expect(await rest.recover(whole.log.slice(0, cut))).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(rest.agents.calls.map(({ kind, messageId }) => [kind, messageId]).slice(0, 2)).toEqual([
      ['follow', undefined],
      ['send', whole.agents.calls[0]?.messageId],
    ]);
  });

  it('after a crash the Task of a call that no event names is found by its parent, and not made again', async () => {
    const whole = new DrivenBrainstorm(agentsThat({}), specOf(['a', 'b'], { maxIterations: 1 }));
    await whole.start();
    const cut = types(whole.log).lastIndexOf('agent.started') + 1;
    const agents = agentsThat({});
    for (const [id, responses] of whole.agents.kept) agents.kept.set(id, responses);
    const rest = new DrivenBrainstorm(agents, whole.spec);
    const [, second] = [...whole.agents.kept.keys()];
    rest.children.push({ taskId: 'of another call', parentReference: '1.0#1' });
    rest.children.push({ taskId: second ?? '', parentReference: '1.1#1' });
    expect(await rest.recover(whole.log.slice(0, cut))).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(agents.calls.map(({ agent, kind }) => [agent, kind])).toEqual([['b', 'follow']]);
    expect(outline(rest.log)).toEqual(outline(whole.log));
  });

  it('J16 a failed pass goes on after iterate, with a new Message to the agent that failed', async () => {
    const agents = agentsThat({
      b: (payload, nth) => (nth === 0 ? new AgentCallError('client-error', 'HTTP 400') : agrees(payload, nth)),
    });
    const storm = new DrivenBrainstorm(agents, specOf(['a', 'b'], { maxIterations: 1 }));
    expect(await storm.start()).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(storm.progress).toMatchObject({ status: 'failed', failure: { agent: 'http://b', message: 'HTTP 400' } });
    expect(await storm.iterate()).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(storm.progress).toMatchObject({ status: 'converged', failure: undefined });
    expect(agents.calls.map(({ agent }) => agent)).toEqual(['a', 'b', 'b']);
    expect(agents.calls[1]?.messageId).not.toBe(agents.calls[2]?.messageId);
  });

  it('J16 three answers in a row that are no state fail the pass; iterate gives three more', async () => {
    const agents = agentsThat({ a: () => ({ metrics: { confidence: 7 } }) });
    const storm = new DrivenBrainstorm(agents);
    await storm.start();
    expect(agents.calls).toHaveLength(3);
    expect(storm.progress.failure?.message).toMatch(/^invalid state: metrics\.confidence: .*3 answers were rejected/);
    await storm.iterate();
    expect(agents.calls).toHaveLength(6);
    expect(new Set(agents.calls.map(({ messageId }) => messageId)).size).toBe(6);
  });

  it('the next request to an agent whose answer was no state has its faults, and no other request has', async () => {
    const listed = { execution_plan: ['Begin'], risks: ['It rains'] } as unknown as Partial<CanonicalState>;
    const agents = agentsThat({ a: (payload, nth) => (nth === 0 ? listed : agrees(payload, nth)) });
    const storm = new DrivenBrainstorm(agents, specOf(['a', 'b'], { maxIterations: 1 }));
    await storm.start();
    expect(types(storm.log).filter((type) => type === 'agent.rejected')).toHaveLength(1);
    expect(storm.progress.status).toBe('converged');
    const [first, again, other] = agents.calls.map(({ payload }) => payload);
    expect(again?.systemPrompt.slice(first?.systemPrompt.length)).toMatch(
      /^\n\nYour last answer .* invalid state: execution_plan\[0\]: must be an object; risks\[0\]: must be an object\./,
    );
    expect([again?.state, Object.keys(again ?? {})]).toEqual([first?.state, Object.keys(first ?? {})]);
    expect(other?.systemPrompt).not.toContain('Your last answer');
  });

  it('the first request after iterate has the last faults of an agent that failed because of its answers', async () => {
    const agents = agentsThat({ a: () => ({ metrics: { confidence: 7 } }) });
    const storm = new DrivenBrainstorm(agents);
    await storm.start();
    await storm.iterate();
    expect(agents.calls[3]?.payload?.systemPrompt).toContain('metrics.confidence: must be at most 1. Answer again');
  });

  it('tells what agents say of mended answers and of tokens, once also where a crash comes between', async () => {
    const report = {
      repairs: ['output is not valid JSON', 'output.risks must be array'],
      usage: { inputTokens: 7, outputTokens: 3 },
    };
    const reporting = (): FakeAgents => {
      const mends: Behaviour = (payload, nth) =>
        payload.systemPrompt.includes('Your last answer') ? agrees(payload, nth) : { metrics: { confidence: 7 } };
      const agents = agentsThat({ a: mends });
      agents.metadata['a'] = { [BRAINSTORM_ENTRY]: report };
      return agents;
    };
    const whole = new DrivenBrainstorm(reporting(), specOf(['a', 'b'], { maxIterations: 1 }));
    await whole.start();
    expect(whole.progress.passes[0]?.agents[0]).toMatchObject({
      repairs: 4,
      usage: { inputTokens: 14, outputTokens: 6 },
    });
    expect(whole.progress.passes[0]?.agents[1]).not.toHaveProperty('usage');
    const [first] = outline(whole.log).filter((line) => line.startsWith('agent.repaired'));
    expect(first).toContain('"faults":"output is not valid JSON"');
    for (let cut = 1; cut < whole.log.length; cut += 1) {
      const agents = reporting();
      for (const [id, responses] of whole.agents.kept) agents.kept.set(id, responses);
      const rest = new DrivenBrainstorm(agents, whole.spec);
      await rest.recover(whole.log.slice(0, cut));
      expect(types(rest.log).filter((type) => type === 'agent.repaired')).toHaveLength(4);
    }
  });

  it.each<[string, JsonObject]>([
    ['no object', { [BRAINSTORM_ENTRY]: ['x'] }],
    ['counts that are none', { [BRAINSTORM_ENTRY]: { repairs: 7, usage: { inputTokens: -1, outputTokens: 1e300 } } }],
  ])('believes no report with %s', async (_what, metadata) => {
    const agents = agentsThat({});
    agents.metadata['a'] = metadata;
    const storm = new DrivenBrainstorm(agents, specOf(['a', 'b'], { maxIterations: 1 }));
    await storm.start();
    expect(storm.progress.status).toBe('converged');
    expect(types(storm.log)).not.toContain('agent.repaired');
    expect(storm.progress.passes[0]?.agents[0]).not.toHaveProperty('usage');
  });

  it('signs what it says beside the payload for agents of this service, and for no other', async () => {
    const spec = specOf(['a', 'b'], { maxIterations: 1 });
    const [one, other] = spec.agents;
    const agents = [{ ...one!, target: { path: 'workflows/w' } }, other!];
    const storm = new DrivenBrainstorm(new FakeAgents(() => agrees), { ...spec, agents });
    await storm.start();
    const [own, elsewhere] = storm.agents.calls.map(({ message }) => message!);
    const scope = { tenant: '', owner: '' };
    const entries = new BrainstormEntries(CALL_CHAINS);
    const schemas = { output: STATE_SCHEMA, accepts: ACCEPTED_STATE_SCHEMA };
    expect(entries.readEntry(own!, scope)).toEqual({ agent: 'workflows/w', ...schemas });
    expect(elsewhere?.metadata).not.toHaveProperty(BRAINSTORM_ENTRY);
    expect([own, elsewhere].map((message) => message?.parts.length)).toEqual([1, 1]);
  });

  it('names its credentials to agents of this service beside the payload, and calls others with the first usable', async () => {
    const spec = specOf(['a', 'b'], { maxIterations: 1 });
    const [one, other] = spec.agents;
    const credentials = ['for-all', 'mine'];
    const agents = [
      { ...one!, target: { path: 'workflows/w' }, credentials },
      { ...other!, credentials },
    ];
    const storm = new DrivenBrainstorm(new FakeAgents(() => agrees), { ...spec, agents });
    Object.assign(storm.hosts, { 'for-all': ['http://else'], mine: ['http://b'] });
    await storm.start();
    const [own, elsewhere] = storm.agents.calls;
    expect(new BrainstormEntries(CALL_CHAINS).readEntry(own!.message!, { tenant: '', owner: '' })).toMatchObject({
      credentials,
    });
    expect(own?.options).not.toHaveProperty('credential');
    expect(elsewhere?.options).toMatchObject({ credential: 'mine', onlyToHosts: true });
    expect(JSON.stringify(elsewhere?.message)).not.toMatch(/for-all|mine/);
  });

  it('chooses the credential anew for each call, and has no agent where none is left', async () => {
    const spec = specOf(['a', 'b'], { maxIterations: 1 });
    const [one, other] = spec.agents;
    const agents = [{ ...one!, credentials: ['first', 'second'] }, other!];
    const storm = new DrivenBrainstorm(agentsThat({}), { ...spec, agents });
    Object.assign(storm.hosts, { first: ['http://a'], second: ['http://a'] });
    await storm.start();
    storm.hosts['first'] = ['http://elsewhere'];
    await storm.iterate();
    storm.hosts['second'] = [];
    await storm.iterate();
    expect(storm.progress.failure).toEqual({
      agent: 'http://a',
      message: '"first", "second" is not a credential that this agent can use',
    });
    storm.hosts['first'] = ['http://a'];
    await storm.iterate();
    const used = storm.agents.calls.filter(({ agent }) => agent === 'a').map(({ options }) => options.credential);
    expect(used).toEqual(['first', 'second', 'first']);
  });

  it('looks the credential up again after a restart between passes: deleted, it fails the pass until it is back', async () => {
    const spec = specOf(['a', 'b'], { maxIterations: 1 });
    const [one, other] = spec.agents;
    const agents = agentsThat({});
    const first = new DrivenBrainstorm(agents, { ...spec, agents: [{ ...one!, credentials: ['mine'] }, other!] });
    first.hosts['mine'] = ['http://a'];
    await first.start();
    /** Continues the brainstorm in another process, which knows only the log. */
    const restarted = async (before: DrivenBrainstorm, hosts: string[]): Promise<DrivenBrainstorm> => {
      const after = new DrivenBrainstorm(agents, before.spec);
      after.log.push(...before.log);
      after.hosts['mine'] = hosts;
      await after.iterate();
      return after;
    };
    const without = await restarted(first, []);
    expect(without.progress.failure?.message).toBe('"mine" is not a credential that this agent can use');
    const back = await restarted(without, ['http://a']);
    expect(back.progress.status).toBe('converged');
    const used = agents.calls.filter(({ agent }) => agent === 'a').map(({ options }) => options.credential);
    expect(used).toEqual(['mine', 'mine']);
  });

  it('follows a call after a crash with the credential that it was made with', async () => {
    const spec = specOf(['a', 'b'], { maxIterations: 1 });
    const [one, other] = spec.agents;
    const whole = new DrivenBrainstorm(agentsThat({}), {
      ...spec,
      agents: [{ ...one!, credentials: ['mine'] }, other!],
    });
    whole.hosts['mine'] = ['http://a'];
    await whole.start();
    const agents = agentsThat({});
    for (const [id, responses] of whole.agents.kept) agents.kept.set(id, responses);
    const rest = new DrivenBrainstorm(agents, whole.spec);
    await rest.recover(whole.log.slice(0, types(whole.log).indexOf('agent.phase') + 1));
    expect(agents.calls[0]).toMatchObject({ agent: 'a', kind: 'follow', options: { credential: 'mine' } });
  });

  it('a brainstorm from before, which names a variable of the environment, calls its agents without one', async () => {
    const spec = specOf(['a', 'b'], { maxIterations: 1 });
    const agents = spec.agents.map((agent) => ({ ...agent, llm: { ...agent.llm, credential_ref: 'PATH' } }));
    const storm = new DrivenBrainstorm(agentsThat({}), { ...spec, agents });
    await storm.start();
    expect(storm.progress.status).toBe('converged');
    expect(storm.agents.calls.map(({ options }) => options.credential)).toEqual([undefined, undefined]);
    expect(JSON.stringify(storm.agents.calls.map(({ payload }) => payload))).not.toContain('PATH');
  });

  it('a list that an answer leaves out is as it was', async () => {
    const without: Behaviour = (...call) => ({ ...(agrees(...call) as object), risks: undefined });
    const risks = [{ text: 'It rains', severity: 'high' as const, resolved: false }];
    const agents = agentsThat({ a: (...call) => ({ ...(agrees(...call) as object), risks }), b: without });
    const storm = new DrivenBrainstorm(agents, specOf(['a', 'b'], { maxIterations: 1 }));
    await storm.start();
    expect(storm.progress).toMatchObject({ status: 'converged', state: { risks } });
  });

  it('an error of ours is told as such, and not as what it says', async () => {
    const storm = new DrivenBrainstorm(agentsThat({ a: () => new Error('password=hunter2') }));
    await storm.start();
    expect(storm.progress.failure).toEqual({ agent: 'http://a', message: 'internal error' });
    expect(JSON.stringify(storm.log)).not.toContain('hunter2');
  });

  it('J7 a cancel ends it as CANCELED and cancels the Task of the agent at work', async () => {
    const agents = agentsThat({ b: () => 'hang' });
    const storm = new DrivenBrainstorm(agents);
    const ended = storm.start();
    await agents.called(2);
    storm.cancel();
    expect(await ended).toBe('TASK_STATE_CANCELED');
    expect(agents.cancels).toEqual([`task-${agents.calls[1]?.messageId}`]);
    expect(storm.progress.stopped).toEqual([{ agent: 'http://b', taskId: agents.cancels[0], outcome: 'acknowledged' }]);
  });

  it.each([0, 1])('J14 a cancel that was an approval keeps what was merged last: outages %i', async (outages) => {
    const agents = agentsThat({ b: (payload, nth) => (nth === 1 ? 'hang' : agrees(payload, nth)) });
    const storm = new DrivenBrainstorm(agents);
    const ended = storm.start();
    await agents.called(4);
    await storm.approvals.noteApproval('storm-1');
    storm.approvals.away = outages;
    storm.cancel();
    expect(await ended).toBe('TASK_STATE_COMPLETED');
    expect(storm.progress).toMatchObject({ status: 'approved', state: { meta: { iteration: 1 } } });
    expect(storm.progress.passes[1]?.agents.map(({ status }) => status)).toEqual(['completed', 'canceled']);
  });

  it('each call tells which calls led to it, itself included', async () => {
    const led = CALL_CHAINS.extendChain([], {
      task: 'run-1',
      caller: 'workflows/w',
      callee: 'http://own/a2a/workflows/w/nodes/n',
    });
    const storm = new DrivenBrainstorm(agentsThat({}), specOf(['a', 'b'], { maxIterations: 1 }));
    await storm.start(led);
    expect(storm.agents.calls.map(({ links }) => links)).toEqual(
      ['http://a', 'http://b'].map((calledAgent) => [
        ...led,
        expect.objectContaining({ root: 'run-1', task: 'storm-1', caller: 'brainstorms', callee: calledAgent }),
      ]),
    );
  });

  it('an agent that was called on the way here is not called again', async () => {
    const led = CALL_CHAINS.extendChain([], { task: 'run-1', caller: 'workflows/w', callee: 'http://a' });
    const storm = new DrivenBrainstorm(agentsThat({}));
    await storm.start(led);
    expect(storm.progress.failure).toEqual({ agent: 'http://a', message: expect.stringContaining('LOOP_DETECTED') });
    expect(storm.agents.calls).toEqual([]);
  });

  it('a shutdown is neither: nothing is recorded, and the error goes on', async () => {
    const agents = agentsThat({ a: () => 'hang' });
    const storm = new DrivenBrainstorm(agents);
    const ended = storm.start();
    await agents.called(1);
    storm.shutDown();
    await expect(ended).rejects.toThrow('This process stops');
    expect(types(storm.log).at(-1)).toBe('agent.phase');
    expect(agents.cancels).toEqual([]);
  });

  it('J10 J12 what an agent says of meta is never passed on', async () => {
    const forged = { meta: { iteration: 9, agents: [] } } as Partial<CanonicalState>;
    const storm = new DrivenBrainstorm(agentsThat({ a: (...call) => ({ ...(agrees(...call) as object), ...forged }) }));
    await storm.start();
    const [, second] = storm.agents.calls;
    expect(second?.payload?.state.meta).toMatchObject({ iteration: 1, agents: [{ agent_id: 'http://a' }, {}] });
    expect(second?.options.parent).toEqual({ taskId: 'storm-1', reference: '1.1#1', token: 'token' });
  });
});
