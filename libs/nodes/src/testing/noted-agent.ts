import type { JsonObject, JsonValue } from '#libs/protocol';
import type { ToolOutcome } from '../agent/agent-events.js';
import { type AgentTool, AgentTools, type ToolCaller } from '../agent/agent-tools.js';
import { type AgentNodeServices, ModelExecutor } from '../agent/model-executor.js';
import { type Answering, FakeModels } from './fake-models.js';
import { TaskDriver } from './task-driver.js';

/** Tools that note each call: `look` may be called twice, `write` may not. */
export class NotedTools extends AgentTools {
  override readonly builtIn = ['look', 'write'];
  readonly made: string[] = [];
  outcome: (tool: string, args: JsonObject, caller: ToolCaller) => ToolOutcome | Promise<ToolOutcome> = (tool) => ({
    result: `${tool} done`,
  });

  override async findTools(patterns: readonly string[]): Promise<AgentTool[]> {
    return patterns.map((name) => ({
      name,
      description: `The tool ${name}`,
      inputSchema: { type: 'object' },
      repeatable: name === 'look',
      needsApproval: name.startsWith('careful/'),
      invokeTool: async (args, caller) => {
        this.made.push(`${name} ${JSON.stringify(args)}`);
        return this.outcome(name, args, caller);
      },
    }));
  }
}

/** An agent whose models and tools are a test's, and a Task of it. */
export function notedAgent(answer: Answering, config: JsonObject = {}) {
  const tools = new NotedTools();
  return { tools, ...agentWith(tools, answer, { tools: ['look', 'write'], ...config }) };
}

/** An agent with whatever tools, and a Task of it. */
export function agentWith(
  tools: AgentTools,
  answer: Answering,
  config: JsonObject,
  memory?: NonNullable<AgentNodeServices['memory']>,
  agents?: NonNullable<AgentNodeServices['agents']>,
) {
  const models = new FakeModels(answer);
  const services = { models, tools, ...(memory && { memory }), ...(agents && { agents }) };
  const driver = new TaskDriver(new ModelExecutor({ id: 'a', type: 'agent', config }, services));
  return { models, driver };
}

/** The payloads of the events of a type in a Task's log. */
export function payloads({ log }: TaskDriver, type: string): JsonObject[] {
  return log.flatMap((event) => {
    const note = 'statusUpdate' in event ? event.statusUpdate.metadata?.['parley/event'] : undefined;
    const step = note as { type: string; payload: JsonObject } | undefined;
    return step?.type === type ? [step.payload] : [];
  });
}

/** What the Task says last: the text, or the data. */
export function lastWord({ task }: TaskDriver): JsonValue | undefined {
  const [part] = task.status.message?.parts ?? [];
  return part?.text ?? part?.data;
}
