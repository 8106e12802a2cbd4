import type { AgentExecutor, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { type Model, ModelError, type ModelMessage, type Models, type WholeAnswer, wholeAnswer } from '#libs/models';
import { firstText, type JsonObject, type Message } from '#libs/protocol';
import { ConfigProblems } from './config-problems.js';
import { configSchema, DATA, PROMPT } from './config-schema.js';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import { typedParts } from './result-parts.js';

/** `agent`: a model answers the Message, knowing the Task's history. */
export class AgentNode implements NodeType {
  readonly name = 'agent';
  readonly configSchema = configSchema({
    prompt: PROMPT,
    data: DATA,
    system_prompt: { type: 'string', description: 'What the model is told before all that is said.' },
    model: {
      type: 'string',
      description:
        "The model: one of `/api/models`, or by its name at the service's endpoint; absent: the service's own.",
    },
  });

  constructor(private readonly models: Models) {}

  problems(node: NodeSpec): string[] {
    return new ConfigProblems(node).strings('prompt', 'system_prompt', 'model').found;
  }

  executor(node: NodeSpec): AgentExecutor {
    return new ModelExecutor(node, this.models);
  }
}

class ModelExecutor extends NodeExecutor {
  override readonly recovery = 'restart';

  constructor(
    node: NodeSpec,
    private readonly models: Models,
  ) {
    super(node);
  }

  protected override async *work(context: RequestContext): NodeWork {
    const { userMessage } = context;
    const system = text(this.node.config, 'system_prompt');
    const found = await this.found(context);
    const model = found.name;
    const prompt = firstText(userMessage.parts) ?? '';
    yield workStep(context, 'model.request', { model, prompt, ...(system && { system_prompt: system }) });
    const messages = conversation(system, context.task?.history ?? [], userMessage);
    const { parts, end } = await this.answer(found, messages, context);
    const { usage } = end;
    yield workStep(context, 'model.response', {
      model,
      output: firstText(parts) ?? '',
      ...(usage && { usage: { ...usage } }),
    });
    return typedParts(parts);
  }

  private async found({ call, signal }: RequestContext): Promise<Model> {
    const { tenant } = call.scope;
    return reported(() => this.models.find(text(this.node.config, 'model'), { tenant, signal }));
  }

  private answer(model: Model, messages: ModelMessage[], { signal }: RequestContext): Promise<WholeAnswer> {
    return reported(() => wholeAnswer(model, { messages, signal }));
  }
}

/** Reports to callers why a model did not answer. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ModelError) throw new NodeFailure(error.message, { cause: error });
    throw error;
  }
}

/** The Task's Messages in their order, then the one to answer. */
function conversation(system: string | undefined, history: readonly Message[], last: Message): ModelMessage[] {
  const opening: ModelMessage[] = system ? [{ role: 'system', parts: [{ text: system }] }] : [];
  const messages = [...history, last].map(({ role, parts }): ModelMessage => ({
    role: role === 'ROLE_USER' ? 'user' : 'assistant',
    parts,
  }));
  return [...opening, ...messages];
}

function text(config: JsonObject, key: string): string | undefined {
  const value = config[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
