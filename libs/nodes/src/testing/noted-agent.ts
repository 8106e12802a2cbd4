import type { JsonObject, JsonValue } from '#libs/protocol';
import type { ToolOutcome } from '../agent/agent-events.js';
import { type AgentTool, AgentTools, type ToolCaller } from '../agent/agent-tools.js';
import { type AgentNodeServices, ModelExecutor } from '../agent/model-executor.js';
import { type Answering, FakeModels } from './fake-models.js';
import { TaskDriver } from './task-driver.js';

/** Tools that record each call. `look` is repeatable, `write` is not. */
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

/** Creates an agent with the models and recording tools of a test, and a Task of the agent. */
export function notedAgent(answer: Answering, config: JsonObject = {}) {
  const tools = new NotedTools();
  return { tools, ...agentWith(tools, answer, { tools: ['look', 'write'], ...config }) };
}

/** Creates an agent with any tools, and a Task of the agent. */
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

/** Returns the payloads of the events of one type in the log of a Task. */
export function payloads({ log }: TaskDriver, type: string): JsonObject[] {
  return log.flatMap((event) => {
    const note = 'statusUpdate' in event ? event.statusUpdate.metadata?.['parley/event'] : undefined;
    const step = note as { type: string; payload: JsonObject } | undefined;
    return step?.type === type ? [step.payload] : [];
  });
}

/** Returns the first text or data of the last status Message of the Task. */
export function lastWord({ task }: TaskDriver): JsonValue | undefined {
  const [part] = task.status.message?.parts ?? [];
  return part?.text ?? part?.data;
}
