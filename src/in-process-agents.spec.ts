import { InProcessAgents } from './in-process-agents.js';

function setUp() {
  const calls: unknown[] = [];
  const transport = { getTask: async (...call: unknown[]) => calls.push(call) };
  const modules = { get: () => transport };
  const agents = new InProcessAgents(
    modules as never,
    { nodeDispatch: 'local' } as never,
    { internalUrl: 'http://own' } as never,
  );
  return { agents, calls };
}

describe('InProcessAgents', () => {
  it('calls for whoever a call is made for', async () => {
    const { agents, calls } = setUp();
    const options = { scope: { tenant: 't', owner: 'o' } };
    await agents.getTask('workflows/w', { id: 'x' }, options);
    expect(calls).toEqual([['workflows/w', { id: 'x' }, options]]);
  });

  it('makes no call that is nobody’s', async () => {
    const { agents, calls } = setUp();
    expect(() => agents.getTask('workflows/w', { id: 'x' }, {})).toThrow('does not say for whom it is made');
    expect(calls).toEqual([]);
  });
});
