import { DrivenBrainstorm, FakeAgents } from './testing/driven-brainstorm.js';

describe('a brainstorm whose Task ends without its word', () => {
  it('leaves no agent at work', async () => {
    const agents = new FakeAgents((agent) => () => (agent === 'b' ? 'hang' : {}));
    const storm = new DrivenBrainstorm(agents);
    storm.onEvent = () => {
      if (agents.calls.length === 2) throw new Error('too large');
    };
    await expect(storm.start()).rejects.toThrow('too large');
    expect(agents.cancels).toEqual([`task-${agents.calls[1]?.messageId}`]);
  });
});
