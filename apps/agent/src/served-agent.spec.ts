import type { AgentExecutor } from '#libs/agents';
import { parseArguments } from './arguments.js';
import { servedAgent } from './served-agent.js';

describe('the agent that a command line asks for', () => {
  it('says nothing of its system prompt', () => {
    const wanted = parseArguments(['--llm', '--system-prompt', 'Keep this', '--name', 'helper']);
    const agent = servedAgent(wanted!, {} as AgentExecutor);
    expect(agent).toMatchObject({ name: 'helper', description: 'helper answers with a model' });
    expect(JSON.stringify(agent)).not.toContain('Keep this');
  });
});
