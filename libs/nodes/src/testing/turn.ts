import type { AgentExecutor, RequestContext } from '#libs/agents';
import { type Message, type Part, submittedTask, type Task, userMessage } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';

/** Creates the context of a turn of a Task that is not stored. `fields` replace the default fields. */
export function turn(content: string | Part[] | Message, fields: Partial<RequestContext> = {}): RequestContext {
  const message = typeof content === 'object' && 'role' in content ? content : userMessage(content);
  return {
    taskId: 'task',
    contextId: 'context',
    token: 'token',
    userMessage: message,
    task: null,
    call: { scope: { tenant: '', owner: '' }, agent: 'node', extensions: [], baseUrl: 'http://self' },
    metadata: undefined,
    signal: new AbortController().signal,
    recovered: 0,
    readTaskLog: async () => [],
    assertRecordable: () => undefined,
    flush: async () => undefined,
    assertClaimHeld: async () => undefined,
    ...fields,
  };
}

/** Creates a Task with a history of these texts. The first is of the user, the second of the agent, and so on. */
export function taskWith(...texts: string[]): Task {
  const history = texts.map((text, index): Message => ({
    ...userMessage(text),
    role: index % 2 === 0 ? 'ROLE_USER' : 'ROLE_AGENT',
  }));
  return { ...submittedTask({ taskId: 'task', contextId: 'context' }, userMessage('')), history };
}

/** Returns all events of a turn. */
export async function played(executor: AgentExecutor, context: RequestContext): Promise<NodeEvent[]> {
  const events: NodeEvent[] = [];
  for await (const event of executor.execute(context)) events.push(event as NodeEvent);
  return events;
}

/** Returns one word for each event: the name of the state, `artifact`, or the type of the run event. */
export function outline(events: readonly NodeEvent[]): string[] {
  return events.map((event) => {
    if ('artifactUpdate' in event) return 'artifact';
    const note = event.statusUpdate.metadata?.['parley/event'] as { type?: string } | undefined;
    return note?.type ?? event.statusUpdate.status.state.replace('TASK_STATE_', '').toLowerCase();
  });
}

/** Returns the Parts of the first Artifact. */
export function artifactParts(events: readonly NodeEvent[]): Part[] | undefined {
  const event = events.find((it) => 'artifactUpdate' in it);
  return event && 'artifactUpdate' in event ? event.artifactUpdate.artifact.parts : undefined;
}

/** Returns the first text of the last status Message. */
export function finalText(events: readonly NodeEvent[]): string | undefined {
  const event = events.at(-1);
  return event && 'statusUpdate' in event ? event.statusUpdate.status.message?.parts[0]?.text : undefined;
}
