import { AgentCatalog, AgentExecutor, type RequestContext, type ServedAgent, UnknownAgent } from '#libs/agents';
import { A2AError, agentMessage, artifactUpdate, invalidParams, type Message, statusUpdate } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Executor of an agent for tests, which does the given work. */
export class FakeExecutor extends AgentExecutor {
  constructor(
    private readonly work: (context: RequestContext) => AsyncIterable<TaskEvent>,
    override readonly replyDirectly?: (message: Message) => Message | undefined,
    override readonly checkRequest?: () => void,
  ) {
    super();
  }

  override execute(context: RequestContext): AsyncIterable<TaskEvent> {
    return this.work(context);
  }
}

/** Yields WORKING, an Artifact with the Message's Parts, and COMPLETED. */
export async function* echo(context: RequestContext): AsyncGenerator<TaskEvent> {
  yield statusUpdate(context, 'TASK_STATE_WORKING');
  yield artifactUpdate(context, { artifactId: 'result', parts: context.userMessage.parts });
  yield statusUpdate(context, 'TASK_STATE_COMPLETED');
}

/** Asks for input at the first Message, then behaves as `echo`. */
export async function* askOnce(context: RequestContext): AsyncGenerator<TaskEvent> {
  if (context.task === null) yield statusUpdate(context, 'TASK_STATE_INPUT_REQUIRED', 'Which colour?');
  else yield* echo(context);
}

export async function* fail(context: RequestContext): AsyncGenerator<TaskEvent> {
  yield statusUpdate(context, 'TASK_STATE_WORKING');
  throw new Error('a secret detail');
}

/** Stays WORKING until the Task is canceled. */
export async function* hang(context: RequestContext): AsyncGenerator<TaskEvent> {
  yield statusUpdate(context, 'TASK_STATE_WORKING');
  await new Promise<void>(() => undefined);
}

export function greeting(message: Message): Message | undefined {
  const reference = { taskId: '', contextId: message.contextId ?? 'greeted' };
  return { ...agentMessage(reference, 'Hello'), taskId: undefined };
}

export function servedAgent(path: string, executor: AgentExecutor, fields: Partial<ServedAgent> = {}): ServedAgent {
  const name = path.split('/').at(-1) || 'service';
  const modes = { inputModes: ['text/plain', 'application/json'], outputModes: ['text/plain', 'application/json'] };
  return { path, name, description: `The agent ${name}`, version: '1', skills: [], ...modes, executor, ...fields };
}

/** Catalog with a fixed set of agents; `nodes/x` is an alias of any node `x`. */
export class FakeCatalog extends AgentCatalog {
  constructor(private readonly agents: readonly ServedAgent[]) {
    super();
  }

  override async resolveAgent(path: string): Promise<ServedAgent> {
    const agent = this.agents.find(
      (it) => it.path === path || (path.startsWith('nodes/') && it.path.endsWith(`/${path}`)),
    );
    if (agent) return agent;
    const node = path.split('/').at(-1) ?? '';
    if (node === 'strange') throw new UnknownAgent('no executor for node type "strange"', 'NO_EXECUTOR');
    if (path.includes('nodes/')) throw new UnknownAgent(`node "${node}" not registered`, 'NODE_NOT_FOUND', { node });
    throw new UnknownAgent(`agent "${path}" not found`, 'AGENT_NOT_FOUND');
  }

  override async routeMessage(_agent: ServedAgent, skill: string | undefined, field?: string): Promise<ServedAgent> {
    if (skill === undefined) throw new A2AError('INVALID_PARAMS', { message: 'message.metadata.skillId is required' });
    const found = this.agents.find((it) => it.path === `workflows/${skill}`);
    if (!found) throw invalidParams({ field: field ?? 'message.metadata.skillId', description: 'names no skill' });
    return found;
  }

  override async listAgents(
    limit: number,
    pageToken?: string,
  ): Promise<{ agents: ServedAgent[]; nextPageToken: string }> {
    const from = Number(pageToken ?? 0);
    const more = this.agents.length > from + limit;
    return { agents: this.agents.slice(from, from + limit), nextPageToken: more ? String(from + limit) : '' };
  }
  override async listWorkflowNames(): Promise<readonly string[]> {
    return this.namesBelow('workflows/');
  }

  override async listRegisteredNames(): Promise<readonly string[]> {
    return this.namesBelow('agents/');
  }

  override async listNodeIds(workflow: string): Promise<readonly string[]> {
    return this.namesBelow(`workflows/${workflow}/nodes/`);
  }

  private namesBelow(prefix: string): string[] {
    return this.agents.flatMap(({ path }) => {
      const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
      return name === '' || name.includes('/') ? [] : [name];
    });
  }
}
