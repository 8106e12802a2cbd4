import type { AgentDirectory } from '#libs/a2a-client';
import { BuiltInAgents } from '#libs/agents';
import type { AgentCard } from '#libs/protocol';
import type { RegisteredAgent, RegisteredAgents } from '../agents/registered-agents.js';
import { RegisteredAgentSource } from './registered-agent-source.js';
import type { RelayLimits } from './relay-limits.js';
import type { RelayTasks } from './relay-tasks.js';
import type { RelayWebhooks } from './relay-webhooks.js';

const CARD = { name: 'Echo', description: '', version: '1', skills: [], capabilities: {} } as unknown as AgentCard;

/** Creates the source of one agent. Successive reads find that its definition was saved at the times in `saves`. */
function sourceOf(saves: (string | undefined)[], reads: string[] = []): RegisteredAgentSource {
  const agent = { tenant: 'acme', name: 'echo', url: 'http://127.0.0.1:1', policy: {}, card: CARD } as RegisteredAgent;
  const get = async (): Promise<RegisteredAgent> => {
    reads.push('agent');
    return agent;
  };
  const pinnedCard = async (): Promise<undefined> => void reads.push('card');
  const [agents, directory] = [{ findTimeOfSave: async () => saves.shift(), get }, { pinnedCard }];
  return new RegisteredAgentSource(
    agents as unknown as RegisteredAgents,
    {} as RelayTasks,
    directory as unknown as AgentDirectory,
    {} as RelayLimits,
    {} as RelayWebhooks,
    new BuiltInAgents(),
  );
}

it('finds an agent that was just seen without a query, under the precondition of its definition', async () => {
  const source = sourceOf(['17', '18']);
  expect(source.findCachedAgent('acme', 'echo')).toBeUndefined();
  const seen = await source.findAgent('acme', 'echo');
  expect(seen?.premise).toBeUndefined();
  const premise = { relation: 'workflow_newest', tenant: 'acme', name: 'echo', version: 'agent/17' };
  expect(source.findCachedAgent('acme', 'echo')).toEqual({ ...seen, premise });
  expect(source.findCachedAgent('other', 'echo')).toBeUndefined();
  await source.findAgent('acme', 'echo');
  expect(source.findCachedAgent('acme', 'echo')?.premise?.version).toBe('agent/18');
});

it('reads an agent once for all that ask for it at once, and again after a save', async () => {
  const reads: string[] = [];
  const source = sourceOf(['17', '17', '17', '18'], reads);
  const asked = Array.from({ length: 4 }, () => source.findAgent('acme', 'echo'));
  const [one, two, three] = await Promise.all(asked);
  expect([two, three]).toEqual([one, one]);
  expect(reads.toSorted()).toEqual(['agent', 'agent', 'card', 'card']);
});
