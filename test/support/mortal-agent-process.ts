// An agent of the official SDK in a process of its own, which a test kills and starts again. It says the events of SCRIPT
// one by one, as far as the test allows, and notes in a file what it heard and said, before it says it.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type AgentCard, type Message, Role, Task, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  ResultManager,
  type ServerCallContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { FIRST_TURN, SCRIPT, type ScriptedEvent } from './mortal-agent-script.js';
import { cardRoute } from './sdk-server.js';

const [notes = '', port = '0', folder = ''] = process.argv.slice(2);
type Event = ReturnType<typeof AgentEvent.task>;
type Ids = Pick<RequestContext, 'taskId' | 'contextId'>;

/** Number of events that the agent may send, by the first word of the Task's Message. */
const allowed = new Map<string, number>();
let wake = Promise.withResolvers<void>();
const canceled = new Set<string>();

process.on('disconnect', () => process.exit());
process.on('message', (news: Record<string, number>) => {
  for (const [about, count] of Object.entries(news)) allowed.set(about, count);
  wakeAll();
});

function wakeAll(): void {
  wake.resolve();
  wake = Promise.withResolvers();
}

function note(entry: object): void {
  appendFileSync(notes, `${JSON.stringify(entry)}\n`);
}

/**
 * Stores Tasks in files of a folder. `onRevived` is called for a Task that is read for the first time after a start.
 */
class FileTaskStore extends InMemoryTaskStore {
  onRevived: (task: Task, context: ServerCallContext) => void = () => undefined;

  override async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const known = await super.load(taskId, context);
    if (known || !existsSync(this.pathOf(taskId))) return known;
    const task = Task.fromJSON(JSON.parse(readFileSync(this.pathOf(taskId), 'utf8')));
    await super.save(task, context);
    this.onRevived(task, context);
    return task;
  }

  override async save(task: Task, context: ServerCallContext): Promise<void> {
    writeFileSync(this.pathOf(task.id), JSON.stringify(Task.toJSON(task)));
    await super.save(task, context);
  }

  private pathOf(taskId: string): string {
    return join(folder, `${taskId}.json`);
  }
}

class ScriptExecutor implements AgentExecutor {
  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { userMessage, task, taskId } = context;
    const text = textOf(userMessage);
    const [about = ''] = text.split(' ');
    note({ about, heard: text, messageId: userMessage.messageId });
    const from = task ? FIRST_TURN : 0;
    await say(about, from, context, async (event) => bus.publish(event), userMessage);
    if (canceled.has(taskId)) bus.publish(statusOf(context, 'TASK_STATE_CANCELED', 'stopped'));
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    note({ canceled: taskId });
    canceled.add(taskId);
    wakeAll();
  }
}

/** Sends the events of a turn from an index on, each as soon as it is allowed. */
async function say(
  about: string,
  from: number,
  ids: Ids,
  publish: (event: Event) => Promise<void>,
  message?: Message,
): Promise<void> {
  const end = from < FIRST_TURN ? FIRST_TURN : SCRIPT.length;
  for (let index = from; index < end; index += 1) {
    while (index >= (allowed.get(about) ?? 0) && !canceled.has(ids.taskId)) await wake.promise;
    if (canceled.has(ids.taskId)) return;
    const event = SCRIPT[index]!;
    note({ about, said: index, taskId: ids.taskId });
    await publish(toEvent(event, ids, message));
  }
}

/** Continues the turn of a Task after a restart of the process. */
async function revive(task: Task, context: ServerCallContext): Promise<void> {
  const about = textOf(task.history.find(({ role }) => role === Role.ROLE_USER)!).split(' ')[0]!;
  const said = readFileSync(notes, 'utf8').trim().split('\n');
  const index = said.filter((line) => (JSON.parse(line) as { taskId?: string }).taskId === task.id).length;
  if (index === FIRST_TURN || index === SCRIPT.length) return;
  note({ about, revived: index });
  const bus = buses.createOrGetByTaskId(task.id, context);
  const results = new ResultManager(store, context);
  await say(about, index, { taskId: task.id, contextId: task.contextId }, async (event) => {
    await results.processEvent(event);
    bus.publish(event);
  });
  bus.finished();
  buses.cleanupByTaskId(task.id, context);
}

function toEvent(event: ScriptedEvent, ids: Ids, message?: Message): Event {
  const { taskId, contextId } = ids;
  if ('state' in event) return statusOf(ids, event.state, event.text);
  if ('artifactId' in event) {
    const { artifactId, text, append, lastChunk } = event;
    const parts = [partOf(text)];
    const artifact = { artifactId, name: artifactId, description: '', parts, metadata: {}, extensions: [] };
    return AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: {} });
  }
  const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
  const history = message ? [message] : [];
  return AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history, metadata: {} });
}

function statusOf({ taskId, contextId }: Ids, state: string, text: string): Event {
  const message = {
    ...{ messageId: crypto.randomUUID(), taskId, contextId, role: Role.ROLE_AGENT, parts: [partOf(text)] },
    ...{ metadata: {}, extensions: [], referenceTaskIds: [] },
  };
  const named = TaskState[state as keyof typeof TaskState] as TaskState;
  const status = { state: named, message, timestamp: new Date().toISOString() };
  return AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} });
}

function partOf(text: string): Message['parts'][number] {
  return { content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: {} };
}

function textOf({ parts }: Message): string {
  const content = parts[0]?.content;
  return content?.$case === 'text' ? content.value : '';
}

const app = express();
const server = app.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const card: AgentCard = {
  ...{ name: 'Mortal agent', description: 'Says its script', version: '1', provider: undefined, skills: [] },
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  ...{ securitySchemes: {}, securityRequirements: [], documentationUrl: '', signatures: [] },
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
};
const store = folder === '' ? new InMemoryTaskStore() : new FileTaskStore();
const buses = new DefaultExecutionEventBusManager();
if (store instanceof FileTaskStore) store.onRevived = (task, context) => void revive(task, context);
const requestHandler = new DefaultRequestHandler(card, store, new ScriptExecutor(), buses);
app.use(express.json());
app.use('/.well-known/agent-card.json', cardRoute(requestHandler));
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
process.send?.({ url });
