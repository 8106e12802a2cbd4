import { AgentCallError } from '#libs/a2a-client';
import type { JsonObject } from '#libs/protocol';
import { type FakeCalledAgent, FakeCalledAgents } from '../testing/fake-called-agents.js';
import { asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, NotedTools, payloads } from '../testing/noted-agent.js';

const URL_OF_PARTNER = 'https://partner.example/a2a/critic';
const PERMANENT = 'this agent cannot be called now: its credential is missing or cannot be used';
const PASSING = 'this agent cannot be called now: its credential cannot be used for the moment';

/** Creates an agent whose model calls the partner once, and answers with the error that it reads. */
function calling(error: AgentCallError) {
  const partner: FakeCalledAgent = { answer: () => ({ state: 'TASK_STATE_FAILED', error }) };
  const tools: JsonObject[] = [{ agent: URL_OF_PARTNER, name: 'critic', auth: 'crm' }];
  return agentWith(
    new NotedTools(),
    (call) => {
      const last = call.messages.at(-1);
      if (last?.role !== 'tool') return asks(call, ['agent__critic', { message: 'go' }]);
      return says(String(last.results[0]?.error));
    },
    { tools },
    undefined,
    new FakeCalledAgents({ [URL_OF_PARTNER]: partner }),
  );
}

const temporary = (kind: 'timeout' | 'connect' | 'server-error'): AgentCallError =>
  new AgentCallError(kind, 'credential "crm": no token', { ofCredential: true });

describe('an agent that is a tool and whose credential cannot be used', () => {
  it.each([
    [new AgentCallError('credential', 'there is no credential "crm"'), PERMANENT],
    [new AgentCallError('credential', 'credential "crm": it names no hosts'), PERMANENT],
    [temporary('timeout'), PASSING],
    [temporary('connect'), PASSING],
    [temporary('server-error').withDoubt(), PASSING],
  ])('is reported to the model without the name, and to callers with it: %s', async (error, errorForModel) => {
    const { driver } = calling(error);
    await driver.run();
    expect(lastWord(driver)).toBe(errorForModel);
    const [recorded] = payloads(driver, 'tool.result');
    expect(recorded).toEqual({
      tool: 'agent:critic',
      id: 'c0',
      error: `the call of "agent:critic" failed: ${error.message}`,
    });
  });

  it('is reported so also where another execution reads the log', async () => {
    const { driver, models } = calling(new AgentCallError('credential', 'there is no credential "crm"'));
    await driver.run(6);
    await driver.run();
    expect(lastWord(driver)).toBe(PERMANENT);
    expect(JSON.stringify(models.calls.map(({ call }) => call.messages))).not.toContain('crm');
  });
});
