import type { CallContext, ServedAgent } from '#libs/agents';
import type { ExecutionRegistry } from '#libs/executor';
import type { SendMessageRequest } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskEvent, TaskFeed, type TaskHeader } from '#libs/tasks';
import { ServedCards } from '../cards/served-cards.js';
import { InProcessHandler } from '../in-process-handler.js';
import { RequestHandler } from '../request-handler.js';
import { askOnce, echo, fail, FakeCatalog, FakeExecutor, greeting, hang, servedAgent } from './fake-agents.js';
import { FakeExecutions } from './fake-executions.js';
import { MemoryTaskStore } from './memory-task-store.js';

export interface FakeService {
  handler: RequestHandler;
  inProcess: InProcessHandler;
  store: MemoryTaskStore;
  executions: FakeExecutions;
  catalog: FakeCatalog;
  /** Records an event of a Task that no executor works on, and publishes the event to the Task's followers. */
  record(taskId: string, event: TaskEvent, header?: TaskHeader): void;
}

/** Creates a service over fakes, with one agent per behavior: echo, ask, hang, greet, and three nodes. */
export function fakeService(more: readonly ServedAgent[] = []): FakeService {
  const store = new MemoryTaskStore();
  const feed = new TaskFeed(store);
  const executions = new FakeExecutions(store, feed);
  const catalog = new FakeCatalog([
    servedAgent('', new FakeExecutor(echo)),
    servedAgent('workflows/echo', new FakeExecutor(echo)),
    servedAgent('workflows/ask', new FakeExecutor(askOnce)),
    servedAgent('workflows/hang', new FakeExecutor(hang)),
    servedAgent('workflows/greet', new FakeExecutor(echo, greeting)),
    servedAgent('workflows/flow/nodes/copy', new FakeExecutor(echo)),
    servedAgent('workflows/flow/nodes/broken', new FakeExecutor(fail)),
    servedAgent('workflows/flow/nodes/question', new FakeExecutor(askOnce)),
    ...more,
  ]);
  const cards = new ServedCards({ address: { publicBaseUrl: () => 'http://parley.test' } });
  const handler = new RequestHandler(catalog, executions as unknown as ExecutionRegistry, store, feed, cards);
  const record: FakeService['record'] = (taskId, event, header) =>
    feed.publishEvents([store.append(taskId, event, header)]);
  const inProcess = new InProcessHandler(handler, feed, executions as unknown as ExecutionRegistry);
  return { handler, inProcess, store, executions, catalog, record };
}

export function callTo(agent: string): CallContext {
  return { scope: ANONYMOUS_SCOPE, agent, extensions: [], baseUrl: 'http://parley.test' };
}

/** Creates a valid request with one text Part. */
export function textRequest(text: string, fields: Partial<SendMessageRequest['message']> = {}): SendMessageRequest {
  return { message: { messageId: `m-${text}`, role: 'ROLE_USER', parts: [{ text }], ...fields } };
}
