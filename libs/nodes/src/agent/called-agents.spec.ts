import { isWaitingState, type JsonObject } from '#libs/protocol';
import { answers, asking, type FakeCalledAgent, FakeCalledAgents } from '../testing/fake-called-agents.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { agentWith, NotedTools } from '../testing/noted-agent.js';

/** Fake model that calls the poet, then the critic. */
const callingBoth: Answering = (call) => {
  const done = call.messages.filter(({ role }) => role === 'tool').length;
  const tool = ['agent__poet', 'agent__critic'][done];
  return tool === undefined ? says('done') : asks(call, [tool, { message: 'go' }]);
};

/** Metadata of a question that only a person may answer. */
const APPROVAL = { 'parley/question': { about: 'approval', call: 'c' } };

/** Creates an agent whose tools are a poet that asks a question, and a critic. */
function calling(critic: FakeCalledAgent) {
  const calledAgents = new FakeCalledAgents({ poet: { answer: () => asking('?') }, critic });
  const config: JsonObject = { tools: ['agent:poet', 'agent:critic'] };
  return { calledAgents, ...agentWith(new NotedTools(), callingBoth, config, undefined, calledAgents) };
}

const tasksOf = ({ sent }: FakeCalledAgents): string[] => sent.map(({ message }) => `task-${message.messageId}`);

describe('an agent whose Task ends without its word', () => {
  it('cancels the agent at work, and those that wait, where it is too large', async () => {
    const { driver, calledAgents } = calling({
      answer: () => {
        driver.log.push = () => {
          throw new Error('The Task is too large');
        };
        return { ...answers(), hangs: true };
      },
    });
    await expect(driver.run()).rejects.toThrow('too large');
    const tasks = tasksOf(calledAgents);
    expect(tasks).toHaveLength(2);
    expect(new Set(calledAgents.others)).toEqual(new Set(tasks.map((id) => `cancel ${id}`)));
  });

  it('cancels those that wait where a question for a person is too large for it', async () => {
    const { driver, calledAgents } = calling({
      answer: () => {
        const { push } = driver.log;
        driver.log.push = (...events) => {
          const [event] = events;
          if (event && 'statusUpdate' in event && isWaitingState(event.statusUpdate.status.state))
            throw new Error('The Task is too large');
          return push.apply(driver.log, events);
        };
        return asking('May I?', APPROVAL);
      },
    });
    await expect(driver.run()).rejects.toThrow('too large');
    const tasks = tasksOf(calledAgents);
    expect(tasks).toHaveLength(2);
    expect(new Set(calledAgents.others)).toEqual(new Set(tasks.map((id) => `cancel ${id}`)));
  });

  it('cancels those that wait where a fault ends it', async () => {
    const { driver, calledAgents } = calling({ answer: () => answers() });
    const fault = new TypeError('A fault');
    calledAgents.budgets.spendCall = async () => {
      if (calledAgents.sent.length > 0) throw fault;
    };
    await expect(driver.run()).rejects.toBe(fault);
    expect(calledAgents.others).toEqual(tasksOf(calledAgents).map((id) => `cancel ${id}`));
  });
});
