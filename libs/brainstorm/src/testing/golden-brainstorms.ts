import { AgentCallError } from '#libs/a2a-client';
import { type Behaviour, DrivenBrainstorm, FakeAgents, specOf } from './driven-brainstorm.js';

/** Brainstorms whose logs are stored in `golden/`, by name. Each function repeats the brainstorm of its log. */
export const GOLDEN_BRAINSTORMS: Readonly<Record<string, () => Promise<DrivenBrainstorm>>> = {
  converged: () => played({}),
  rejected: () => played({ a: (...call) => (call[1] === 0 ? INVALID : agrees(...call)) }),
  'gave-up': () => played({ a: () => INVALID }),
  broken: () => played({ a: () => new Error('password=hunter2') }),
  'failed-iterated': failedIterated,
  canceled: () => stopped(false),
  approved: () => stopped(true),
  'canceled-recovered': canceledRecovered,
  recovered: () => recovered('agent.started'),
  'recovered-seen': () => recovered('agent.phase'),
  'recovered-forgotten': () => recovered('agent.phase', false),
};

const STEP = { title: 'Begin', description: 'one two three four five six seven eight nine ten' };
const INVALID = { metrics: { confidence: 7 } };

const agrees: Behaviour = ({ state }) => ({
  execution_plan: [STEP],
  metrics: { confidence: 0.9 },
  assumptions: [...state.assumptions, `${state.meta.iteration}`],
});

function storm(behaviours: Record<string, Behaviour>, maxIterations = 2): DrivenBrainstorm {
  return new DrivenBrainstorm(
    new FakeAgents((agent) => behaviours[agent] ?? agrees),
    specOf(['a', 'b'], { maxIterations }),
  );
}

async function played(behaviours: Record<string, Behaviour>): Promise<DrivenBrainstorm> {
  const it = storm(behaviours);
  await it.start();
  return it;
}

async function failedIterated(): Promise<DrivenBrainstorm> {
  const fails: Behaviour = (...call) =>
    call[1] === 0 ? new AgentCallError('client-error', 'HTTP 400') : agrees(...call);
  const it = storm({ b: fails }, 1);
  await it.start();
  await it.iterate();
  await it.iterate();
  return it;
}

/** Approves or cancels a brainstorm while the second agent works in the second pass. */
async function stopped(approved: boolean): Promise<DrivenBrainstorm> {
  const it = storm({ b: (...call) => (call[1] === 1 ? 'hang' : agrees(...call)) });
  const ended = it.start();
  await it.agents.called(4);
  if (approved) await it.approvals.noteApproval('storm-1');
  it.cancel();
  await ended;
  return it;
}

/**
 * Cancels a brainstorm in the process that resumes it. That process finds the Task of a local agent by its parent Task.
 */
async function canceledRecovered(): Promise<DrivenBrainstorm> {
  const first = storm({ b: () => 'hang' });
  const ended = first.start();
  await first.agents.called(2);
  first.shutDown();
  await ended.catch(() => undefined);
  const rest = new DrivenBrainstorm(first.agents, first.spec);
  rest.children.push({ taskId: 'task-of-b', parentReference: '1.1#1' });
  rest.cancel();
  await rest.recover(first.log.slice(0, lastOf(first, 'agent.started')));
  return rest;
}

/**
 * Resumes a brainstorm after a crash, from its log up to the last event of a type.
 * @param isKept true if the agents still have the Tasks that were created before the crash
 */
async function recovered(type: string, isKept = true): Promise<DrivenBrainstorm> {
  const first = await played({});
  const rest = storm({});
  if (isKept) for (const [id, responses] of first.agents.kept) rest.agents.kept.set(id, responses);
  await rest.recover(first.log.slice(0, lastOf(first, type)));
  return rest;
}

function lastOf({ log }: DrivenBrainstorm, type: string): number {
  return log.findLastIndex((event) => JSON.stringify(event).includes(`"${type}"`)) + 1;
}
