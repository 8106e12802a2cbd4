import type { NodeTypes } from '#libs/agents';
import type { Models, ModelStore } from '#libs/models';
import { describedNodeTypes } from '#libs/nodes';
import type { JsonObject } from '#libs/protocol';
import { type AppConfig, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { WorkflowCheck, type WorkflowStore } from '#libs/workflows';
import { GenerationModels } from '../generation-models.js';
import type { Nameable, NameableThings } from '../generation-prompt.js';
import { WorkflowGenerator } from '../workflow-generator.js';

/** Names that the tenant of a test may use. */
const NAMES: NameableThings = {
  workflows: ['greeting'],
  models: ['large'],
  tools: ['calculator', 'tickets/create'],
  agents: ['https://agent.example.com/a2a'],
};

/** Definition without any problem. */
export const GOOD: JsonObject = {
  name: 'shout',
  nodes: [
    { id: 'text', type: 'input', config: {} },
    { id: 'say', type: 'agent', config: { prompt: 'Say loudly: {{text}}' } },
    { id: 'said', type: 'output', config: { prompt: '{{say}}' } },
  ],
  edges: [
    { from: 'text', to: 'say' },
    { from: 'say', to: 'said' },
  ],
};

/** Definition GOOD with a cycle of edges. */
export const CYCLE: JsonObject = {
  ...GOOD,
  edges: [
    { from: 'text', to: 'say' },
    { from: 'say', to: 'said' },
    { from: 'said', to: 'say' },
  ],
};

/** Creates the members of the configuration that the generation of workflows reads. */
export function configOf(generateModel?: string): AppConfig {
  return { content: DEFAULT_CONTENT_LIMITS, llm: { inputModes: [], generateModel } } as unknown as AppConfig;
}

/** Creates a store with stored models of these names. */
export function keptModels(...names: string[]): ModelStore {
  return { listModels: async () => names.map((name) => ({ name })) } as unknown as ModelStore;
}

/** Creates a store whose tenants have no workflow. */
export function emptyStore(): WorkflowStore {
  const store = { inTenant: () => store, get: async () => undefined };
  return store as unknown as WorkflowStore;
}

/** Creates a generator over some models, with the node types and the checks of the service. */
export async function generatorOver(models: Models, ...kept: string[]): Promise<WorkflowGenerator> {
  const nodeTypes: NodeTypes = await describedNodeTypes([]);
  const config = configOf();
  return new WorkflowGenerator(
    new GenerationModels(models, keptModels(...kept), config),
    { listNames: async () => NAMES } as unknown as Nameable,
    nodeTypes,
    new WorkflowCheck(nodeTypes),
    emptyStore(),
    config,
  );
}
