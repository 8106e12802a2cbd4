import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentExecutor, type CallContext, type RequestContext } from '#libs/agents';
import { agentMessage, type Message, statusUpdate, textPart, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { CallLog, type CallLogLine, LoggedExecutor } from './served-agent.js';

const CALL: CallContext = { scope: { tenant: '', owner: '' }, agent: '', extensions: [], baseUrl: 'http://127.0.0.1' };

class Completing extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly cancelGrace = 7;

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    yield statusUpdate(context, 'TASK_STATE_COMPLETED');
  }

  override replyDirectly(message: Message): Message | undefined {
    return message.parts[0]?.text === 'ping'
      ? agentMessage({ taskId: '', contextId: '' }, [textPart('pong')])
      : undefined;
  }
}

describe('LoggedExecutor', () => {
  let folder: string;
  let logged: LoggedExecutor;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'call-log-'));
    logged = new LoggedExecutor(new Completing(), new CallLog(join(folder, 'calls.jsonl')));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const calls = (): CallLogLine[] =>
    readFileSync(join(folder, 'calls.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as CallLogLine);

  it('keeps what the registry must know of the executor', () => {
    expect(logged).toMatchObject({ recovery: 'restart', cancelGrace: 7 });
  });

  it('writes one line per execution, before its first event', async () => {
    const message = userMessage([textPart('do it')]);
    const events: TaskEvent[] = [];
    for await (const event of logged.execute(contextOf(message, 0))) {
      expect(calls()).toHaveLength(1);
      events.push(event);
    }
    expect(events).toHaveLength(1);
    expect(calls()).toEqual([{ messageId: message.messageId, taskId: 't1', text: 'do it', at: expect.any(String) }]);
  });

  it('says where an execution goes on after a crash', () => {
    logged.execute(contextOf(userMessage([textPart('do it')]), 3));
    expect(calls()).toMatchObject([{ taskId: 't1', recovered: 3 }]);
  });

  it('writes a line for a direct answer, and none for a Message that will be executed', () => {
    expect(logged.replyDirectly(userMessage([textPart('ping')]), CALL)).toBeDefined();
    expect(logged.replyDirectly(userMessage([textPart('work')]), CALL)).toBeUndefined();
    expect(calls()).toMatchObject([{ text: 'ping' }]);
    expect(calls()[0]).not.toHaveProperty('taskId');
  });
});

function contextOf(message: Message, recovered: number): RequestContext {
  return {
    taskId: 't1',
    contextId: 'c1',
    token: 'token',
    userMessage: message,
    task: null,
    call: CALL,
    metadata: undefined,
    signal: new AbortController().signal,
    recovered,
    readTaskLog: () => Promise.resolve([]),
    assertRecordable: () => undefined,
    flush: () => Promise.resolve(),
    assertClaimHeld: async () => undefined,
  };
}
