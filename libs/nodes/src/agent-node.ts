import type { AgentExecutor, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { firstText, type JsonObject, type Message } from '#libs/protocol';
import { ConfigProblems } from './config-problems.js';
import { configSchema, DATA, PROMPT } from './config-schema.js';
import type { LlmMessage, LlmProvider } from './llm/llm-provider.js';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { typedParts } from './result-parts.js';

/** `agent`: a model answers the Message, knowing the Task's history. */
export class AgentNode implements NodeType {
  readonly name = 'agent';
  readonly configSchema = configSchema({
    prompt: PROMPT,
    data: DATA,
    system_prompt: { type: 'string', description: 'What the model is told before all that is said.' },
    model: { type: 'string', description: "The model, by its name at the endpoint; absent: the service's own." },
  });

  constructor(private readonly llm: LlmProvider) {}

  problems(node: NodeSpec): string[] {
    return new ConfigProblems(node).strings('prompt', 'system_prompt', 'model').found;
  }

  executor(node: NodeSpec): AgentExecutor {
    return new ModelExecutor(node, this.llm);
  }
}

class ModelExecutor extends NodeExecutor {
  override readonly recovery = 'restart';

  constructor(
    node: NodeSpec,
    private readonly llm: LlmProvider,
  ) {
    super(node);
  }

  protected override async *work(context: RequestContext): NodeWork {
    const { userMessage, signal } = context;
    const system = text(this.node.config, 'system_prompt');
    const wanted = text(this.node.config, 'model');
    const model = this.llm.modelFor(wanted);
    const prompt = firstText(userMessage.parts) ?? '';
    yield workStep(context, 'model.request', { model, prompt, ...(system && { system_prompt: system }) });
    const messages = conversation(system, context.task?.history ?? [], userMessage);
    const { parts, usage } = await this.llm.answer({ model: wanted, messages, signal });
    yield workStep(context, 'model.response', { model, output: firstText(parts) ?? '', ...(usage && { usage }) });
    return typedParts(parts);
  }
}

/** The Task's Messages in their order, then the one to answer. */
function conversation(system: string | undefined, history: readonly Message[], last: Message): LlmMessage[] {
  const opening: LlmMessage[] = system ? [{ role: 'system', parts: [{ text: system }] }] : [];
  const messages = [...history, last].map(({ role, parts }): LlmMessage => ({
    role: role === 'ROLE_USER' ? 'user' : 'assistant',
    parts,
  }));
  return [...opening, ...messages];
}

function text(config: JsonObject, key: string): string | undefined {
  const value = config[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
