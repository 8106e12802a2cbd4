import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { constants, gzipSync } from 'node:zlib';
import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { before } from '../../../test/support/until.js';
import { WireAgent, type WireCard, type WireRequest } from '../../../test/support/wire-agent.js';
import { CalledTask } from './agent-client.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const BINDINGS = [
  { version: '1.0', binding: 'JSONRPC' },
  { version: '1.0', binding: 'HTTP+JSON' },
  { version: '0.3', binding: 'JSONRPC' },
  { version: '0.3', binding: 'HTTP+JSON' },
] as const satisfies WireCard[];
type Binding = (typeof BINDINGS)[number];

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const directory = new HttpAgentDirectory({ http });
const agents: WireAgent[] = [];

afterEach(() => Promise.all(agents.splice(0).map((it) => it.stop())));
afterAll(() => http.close());

/** Writer of a Task, of its parts and of answers in the format of one binding and version. */
class Wire {
  constructor(private readonly binding: Binding) {}

  state(name: 'working' | 'completed'): string {
    const { version, binding } = this.binding;
    return version === '0.3' && binding === 'JSONRPC' ? name : `TASK_STATE_${name.toUpperCase()}`;
  }

  task(state: unknown, text?: string): object {
    const artifacts = text === undefined ? [] : [{ artifactId: 'a', parts: [this.part(text)] }];
    return { ...(this.isOld && { kind: 'task' }), id: 't', contextId: 'c', status: { state }, artifacts, history: [] };
  }

  /** Returns one event of a stream. */
  event(
    { body }: WireRequest,
    kind: 'task' | 'statusUpdate' | 'artifactUpdate',
    item: object,
    id: unknown = body?.id,
  ): string {
    const { binding } = this.binding;
    const data =
      binding === 'HTTP+JSON' ? { [kind]: item } : { jsonrpc: '2.0', id, result: this.isOld ? item : { [kind]: item } };
    return `data: ${JSON.stringify(data)}\n\n`;
  }

  status(state: unknown): object {
    const kind = this.isOld && { kind: 'status-update', final: false };
    return { ...kind, taskId: 't', contextId: 'c', status: state === undefined ? {} : { state } };
  }

  part(text: string): object {
    return this.isOld ? { kind: 'text', text } : { text };
  }

  unknownPart(): object {
    return this.isOld ? { kind: 'video', video: 'x' } : { video: 'x' };
  }

  artifact(...parts: object[]): object {
    const kind = this.isOld && { kind: 'artifact-update' };
    return { ...kind, taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts } };
  }

  /** Returns a plain answer. */
  answer({ body }: WireRequest, result: object): string {
    const { binding } = this.binding;
    return JSON.stringify(binding === 'HTTP+JSON' ? result : { jsonrpc: '2.0', id: body?.id, result });
  }

  private get isOld(): boolean {
    return this.binding.version === '0.3' && this.binding.binding === 'JSONRPC';
  }
}

function asksForTask({ method, path, body }: WireRequest): boolean {
  return method === 'GET' || /GetTask|tasks\/get/.test(`${path} ${String(body?.method)}`);
}

async function answerOf(
  binding: WireCard,
  answer: (response: ServerResponse, request: WireRequest) => void,
): Promise<{ task: CalledTask; events: StreamResponse[] }> {
  const agent = await WireAgent.start({ streaming: true, ...binding }, answer);
  agents.push(agent);
  const task = new CalledTask();
  const events: StreamResponse[] = [];
  for await (const event of (await directory.resolveClient(agent.url)).sendMessage({ message: userMessage('hello') })) {
    events.push(event);
    task.applyResponse(event);
  }
  return { task, events };
}

function stream(response: ServerResponse, ...events: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
}

describe.each(BINDINGS)('an answer over $binding of $version', (binding) => {
  const wire = new Wire(binding);

  it.each([undefined, 'TASK_STATE_UNSPECIFIED', 'TASK_STATE_PAUSED', 'paused', 9])(
    'whose status is %p for a moment is read to its end',
    async (state) => {
      const { task } = await answerOf(binding, (response, request) =>
        stream(
          response,
          wire.event(request, 'task', wire.task(wire.state('working'))),
          wire.event(request, 'statusUpdate', wire.status(state)),
          wire.event(request, 'task', wire.task(state)),
          wire.event(request, 'task', wire.task(wire.state('completed'), 'done')),
        ),
      );
      expect(task.state).toBe('TASK_STATE_COMPLETED');
      expect(task.artifacts).toMatchObject([{ parts: [{ text: 'done' }] }]);
    },
  );

  it('without a Part of a kind that its version does not know is read, and names the kind', async () => {
    const part = wire.part('hello');
    const { task } = await answerOf(binding, (response, request) =>
      stream(
        response,
        wire.event(request, 'task', wire.task(wire.state('working'))),
        wire.event(request, 'artifactUpdate', wire.artifact(wire.unknownPart(), part)),
        wire.event(request, 'statusUpdate', wire.status(wire.state('completed'))),
      ),
    );
    expect(task.artifacts).toMatchObject([
      { parts: [{ text: 'hello' }], metadata: { 'parley/unread-parts': ['video'] } },
    ]);
  });

  it('with an event that is not of A2A is looked at by GetTask', async () => {
    const { task } = await answerOf(binding, (response, request) => {
      if (asksForTask(request)) return void response.end(wire.answer(request, wire.task(wire.state('completed'), 'x')));
      stream(response, wire.event(request, 'task', wire.task(wire.state('working'))), 'data: {"jsonrpc": 7\n\n');
    });
    expect(task.artifacts).toMatchObject([{ parts: [{ text: 'x' }] }]);
  });

  it('that names its request by a text is taken', async () => {
    const { task } = await answerOf(binding, (response, request) => {
      const { body } = request;
      stream(response, wire.event(request, 'task', wire.task(wire.state('completed'), 'x'), String(body?.id)));
    });
    expect(task.state).toBe('TASK_STATE_COMPLETED');
  });

  it.each(['identity', 'gzip'])('in %s that stays open after its last event loses its connection', async (coding) => {
    const begun = Promise.withResolvers<ServerResponse>();
    const { task } = await answerOf(binding, (response, request) => {
      const sent = wire.event(request, 'task', wire.task(wire.state('completed'), 'done'));
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        ...(coding === 'gzip' && { 'content-encoding': coding }),
      });
      response.write(coding === 'gzip' ? gzipSync(sent, { finishFlush: constants.Z_SYNC_FLUSH }) : sent);
      begun.resolve(response);
    });
    expect(task.state).toBe('TASK_STATE_COMPLETED');
    const response = await begun.promise;
    if (!response.closed) await before(once(response, 'close'), { what: 'the close of the connection' });
    expect(response.writableFinished).toBe(false);
  });
});
