import { actionsOf, type Brainstorm, describeStanding, type PassAgent } from './brainstorm.js';

const brainstorm = (fields: Partial<Brainstorm> = {}): Brainstorm => ({
  brainstormId: 'b',
  status: 'active',
  iteration: 0,
  maxIterations: 3,
  agents: [],
  state: {
    idea: '',
    architecture: '',
    execution_plan: [],
    risks: [],
    assumptions: [],
    open_questions: [],
    metrics: { confidence: 0 },
    meta: { agents: [], iteration: 0 },
  },
  provenance: {},
  passes: [],
  createdAt: '',
  updatedAt: '',
  ...fields,
});

describe('actionsOf', () => {
  it.each([
    [
      { status: 'active', iteration: 0 },
      { iterate: false, approve: false, cancel: true },
    ],
    [
      { status: 'active', iteration: 1 },
      { iterate: false, approve: true, cancel: true },
    ],
    [
      { status: 'converged', iteration: 2 },
      { iterate: true, approve: true, cancel: true },
    ],
    [
      { status: 'failed', iteration: 0 },
      { iterate: true, approve: false, cancel: true },
    ],
    [
      { status: 'approved', iteration: 2 },
      { iterate: false, approve: false, cancel: false },
    ],
    [
      { status: 'canceled', iteration: 2 },
      { iterate: false, approve: false, cancel: false },
    ],
  ] as const)('%j allows %j', (fields, allowed) => expect(actionsOf(brainstorm(fields))).toEqual(allowed));
});

describe('standing', () => {
  it('names the agent at work, then why it converged, then why it failed', () => {
    const agents: PassAgent[] = [
      { agent: 'ann', role: 'build', status: 'completed' },
      { agent: 'bob', role: 'review', status: 'running' },
    ];
    const passes = [{ iteration: 1, agents }];
    expect(describeStanding(brainstorm({ passes }))).toBe('Iteration 1 of at most 3: bob is at work.');
    expect(describeStanding(brainstorm({ status: 'converged', convergence: 'Converged.' }))).toBe('Converged.');
    expect(describeStanding(brainstorm({ status: 'failed', error: { agent: 'bob', message: 'no state' } }))).toBe(
      'bob: no state',
    );
  });
});
