import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ApiCall } from '#libs/access';
import { ProcessStreams } from '#libs/durable';
import { ApiValidationPipe, malformedRequest, ProblemError, ProblemFilter, ServiceAddress } from '#libs/http-server';
import { runEventMetadata, statusUpdate, submittedTask, type TaskState, userMessage } from '#libs/protocol';
import { AppConfig, loadConfig, Shutdown } from '#libs/service';
import { type RecordedEvent, type TaskEvent, TaskFeed, TaskStore } from '#libs/tasks';
import { done, workflowFailed } from '#libs/workflow-engine';
import { Reruns } from './reruns.js';
import { RunDiffs } from './run-diff.js';
import { RunList } from './run-list.js';
import type { RunQuery } from './run-query.js';
import { RequestBodies, RunsController, WorkflowRunsController } from './runs.controller.js';
import { RunUsages } from './usage.controller.js';
import { RunWaits } from '../storage/run-waits.js';
import { Runs, unknownWorkflow } from './runs.js';

const run = { taskId: 'r1', contextId: 'c1' };
const header = { taskId: 'r1', agent: 'workflows/w' };

/** Log of a run that begins, fails and ends. */
const LOG: RecordedEvent[] = [
  recorded(1, { task: submittedTask(run, userMessage('x')) }),
  recorded(2, status('TASK_STATE_WORKING', workflowFailed.createNote({ error: 'broken' }))),
  recorded(3, status('TASK_STATE_FAILED', done.createNote({ status: 'failed', state: {}, error: 'broken' }))),
];

function recorded(sequence: number, event: TaskEvent): RecordedEvent {
  return { taskId: 'r1', sequence, event, json: '' };
}

function status(state: TaskState, note: Parameters<typeof runEventMetadata>[0]): TaskEvent {
  return statusUpdate(run, state, undefined, runEventMetadata(note));
}

/** Call of a caller without authentication. */
const CALL = { scope: { tenant: '', owner: '' }, baseUrl: 'http://here' };

/** Fake of the services that the controllers use: runs and the feed of their events. */
class Fake {
  started: unknown[] = [];
  canceled: string[] = [];
  queries: RunQuery[] = [];
  cancellation = Promise.withResolvers<void>();
  /** True if the run ends; otherwise its feed waits after the first event. */
  ends = true;
  /** Sequence number of the run's last event. */
  last = 3;

  runs = {
    startRun: async (workflow: string, { inputs }: { inputs: unknown }, { scope, baseUrl }: ApiCall) => {
      if (workflow !== 'w') throw unknownWorkflow();
      this.started.push([workflow, inputs, { scope, baseUrl }]);
      return header;
    },
    findHeader: async (id: string) => {
      if (id !== 'r1') throw new ProblemError(404, 'run not found');
      return { ...header, lastSequence: this.last };
    },
    viewRun: async (id: string, call: object) => ({ runId: id, nodes: {}, ...call }),
    stopRun: async (id: string) => {
      this.canceled.push(id);
      this.cancellation.resolve();
    },
    cancelRun: async (id: string) => {
      this.canceled.push(id);
      return { runId: id, status: 'canceled', children: [] };
    },
  };

  list = {
    listRuns: async (query: RunQuery) => {
      this.queries.push(query);
      if (query.pageSize === 99) throw malformedRequest({ path: 'x', detail: 'y' });
      return { runs: [], nextPageToken: '' };
    },
  };

  feed = {
    followTask: (_id: string, after: number, { signal }: { signal: AbortSignal }) => this.follow(after, signal),
  };

  private async *follow(after: number, signal: AbortSignal): AsyncGenerator<RecordedEvent> {
    for (const event of LOG.slice(after)) {
      yield event;
      if (!this.ends) return void (await aborted(signal));
    }
  }
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, 'abort');
}

let app: NestFastifyApplication;
let url: string;
let shutdown = new AbortController();
const fake = new Fake();

beforeAll(async () => {
  const module = await Test.createTestingModule({
    controllers: [RunsController, WorkflowRunsController],
    providers: [
      ProcessStreams,
      RequestBodies,
      { provide: AppConfig, useValue: loadConfig({}) },
      { provide: Runs, useValue: fake.runs },
      { provide: Reruns, useValue: {} },
      { provide: RunUsages, useValue: { addUsage: async (runs: readonly unknown[]) => runs } },
      { provide: RunWaits, useValue: { addWaits: async (runs: readonly unknown[]) => runs } },
      { provide: RunList, useValue: fake.list },
      { provide: RunDiffs, useValue: {} },
      { provide: TaskFeed, useValue: fake.feed },
      { provide: TaskStore, useValue: {} },
      {
        provide: Shutdown,
        useFactory: () => ({
          get started() {
            return shutdown.signal;
          },
        }),
      },
      { provide: ServiceAddress, useValue: { publicBaseUrl: () => 'http://here' } },
      { provide: APP_PIPE, useClass: ApiValidationPipe },
      { provide: APP_FILTER, useFactory: () => new ProblemFilter() },
    ],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter({ bodyLimit: 40_000 }), {
    logger: false,
  });
  app.enableCors({ origin: 'http://console' });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});

beforeEach(() => {
  Object.assign(fake, { started: [], canceled: [], queries: [], cancellation: Promise.withResolvers(), ends: true });
  shutdown = new AbortController();
});

afterEach(() => shutdown.abort());

afterAll(() => app.close());

function post(path: string, body?: string, headers: Record<string, string> = { 'content-type': 'application/json' }) {
  return fetch(`${url}${path}`, { method: 'POST', body, headers: body === undefined ? {} : headers });
}

/** Returns the status, the detail and the path of the first entry of a problem response. */
async function problemOf(reply: Response): Promise<{ status: number; detail: string; path?: string }> {
  expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  const { detail, errors } = (await reply.json()) as { detail: string; errors?: { path: string }[] };
  return { status: reply.status, detail, path: errors?.[0]?.path };
}

interface Frame {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

function framesOf(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('id:'))
    .map((block) => {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
      );
      return { id: fields.id ?? '', event: fields.event ?? '', data: JSON.parse(fields.data ?? '') as Frame['data'] };
    });
}

/** Opens a stream and disconnects after its first bytes. */
async function openAndLeave(path: string): Promise<void> {
  const outgoing = httpRequest(`${url}${path}`, { method: 'POST' }).end();
  outgoing.on('error', () => undefined);
  const [incoming] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream];
  incoming.on('error', () => undefined);
  await once(incoming, 'data');
  outgoing.destroy();
}

describe('POST /api/workflows/{name}/runs', () => {
  it('starts a run and answers at once', async () => {
    const reply = await post('/api/workflows/w/runs', '{"inputs":{"a":1}}');
    expect(reply.status).toBe(202);
    expect(reply.headers.get('location')).toBe('/api/runs/r1');
    expect(await reply.json()).toEqual({ runId: 'r1' });
    expect(fake.started).toEqual([['w', { a: 1 }, CALL]]);
  });

  it.each(['run', 'runs'])('starts no run for a member that it does not know (%s)', async (path) => {
    const reply = await post(`/api/workflows/w/${path}`, '{"input":{"a":1}}');
    expect([reply.status, await reply.json()]).toMatchObject([400, { errors: [{ path: 'input' }] }]);
    expect(fake.started).toEqual([]);
  });

  it('starts a run without inputs where there is no body', async () => {
    expect((await post('/api/workflows/w/runs')).status).toBe(202);
    expect(fake.started).toEqual([['w', {}, CALL]]);
  });

  it.each([
    ['{"inputs":5}', 'inputs'],
    ['{"inputs":[1]}', 'inputs'],
    ['[]', ''],
    ['5', ''],
    ['{"inputs":', undefined],
  ])('refuses %s and starts nothing', async (body, path) => {
    const reply = await post('/api/workflows/w/runs', body);
    expect(await problemOf(reply)).toMatchObject({ status: 400, path });
    expect(fake.started).toEqual([]);
  });

  it('takes an empty body for none, whatever its type', async () => {
    expect((await post('/api/workflows/w/runs', '')).status).toBe(202);
    expect((await post('/api/runs/r1/cancel', '')).status).toBe(200);
    expect(fake.started).toEqual([['w', {}, CALL]]);
  });

  it('answers 404 for an unknown workflow', async () => {
    const reply = await post('/api/workflows/nope/runs', '{}');
    expect(await problemOf(reply)).toMatchObject({ status: 404, detail: 'workflow not found' });
  });
});

describe('POST /api/workflows/{name}/run', () => {
  it('streams the events until `done`, with the headers of rows F2 and F9', async () => {
    const reply = await post('/api/workflows/w/run', '{"inputs":{"a":1}}', {
      'content-type': 'application/json',
      origin: 'http://console',
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(reply.headers.get('cache-control')).toContain('no-cache');
    expect(reply.headers.get('location')).toBe('/api/runs/r1');
    expect(reply.headers.get('access-control-allow-origin')).toBe('http://console');
    const frames = framesOf(await reply.text());
    expect(frames.map((frame) => [frame.id, frame.event])).toEqual([
      ['1', 'node.started'],
      ['2', 'workflow.failed'],
      ['3', 'done'],
    ]);
    expect(frames[0]?.data).toMatchObject({ workflow: 'w', runId: 'r1', sequence: 1, payload: { workflow: 'w' } });
    expect(frames[2]?.data).toMatchObject({
      session_id: 'r1',
      runId: 'r1',
      status: 'failed',
      state: {},
      error: 'broken',
    });
  });

  it.each([
    ['no JSON', '{"inputs":', 'application/json'],
    ['nothing', undefined, ''],
    ['an empty text', '', 'application/json'],
    ['no object', '5', 'application/json'],
    ['inputs that are no object', '{"inputs":[1]}', 'application/json'],
    ['an empty form', '', 'application/x-www-form-urlencoded'],
  ])('takes a body that is %s for no inputs (row F2)', async (_what, body, type) => {
    const reply = await post('/api/workflows/w/run', body, { 'content-type': type });
    expect(reply.status).toBe(200);
    await reply.text();
    expect(fake.started).toEqual([['w', {}, CALL]]);
  });

  it('refuses a body that is not called JSON, and starts nothing', async () => {
    const reply = await post('/api/workflows/w/run', '{"inputs":{"ä":"ö"}}', { 'content-type': 'text/xml' });
    expect(await problemOf(reply)).toMatchObject({ status: 415 });
    expect(fake.started).toEqual([]);
  });

  it('refuses a body that is too large', async () => {
    for (const size of [50_000, 5_000_000]) {
      const reply = await post('/api/workflows/w/run', JSON.stringify({ inputs: { a: 'x'.repeat(size) } }));
      expect(await problemOf(reply)).toMatchObject({ status: 413 });
    }
  });

  it('refuses inputs that are nested too deep', async () => {
    const reply = await post('/api/workflows/w/run', `{"inputs":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`);
    expect(await problemOf(reply)).toMatchObject({ status: 400, detail: 'the body is nested deeper than 100 levels' });
    expect(fake.started).toEqual([]);
  });

  it('answers 404 for an unknown workflow', async () => {
    const reply = await post('/api/workflows/nope/run');
    expect(await problemOf(reply)).toMatchObject({ status: 404, detail: 'workflow not found' });
  });

  it('cancels the run of a reader that leaves only where it asked for that (row K12)', async () => {
    fake.ends = false;
    await openAndLeave('/api/workflows/w/run');
    await openAndLeave('/api/workflows/w/run?cancelOnDisconnect=true');
    await fake.cancellation.promise;
    expect(fake.canceled).toEqual(['r1']);
  });

  it('cancels nothing when the run has ended, or when the service goes', async () => {
    await (await post('/api/workflows/w/run?cancelOnDisconnect=true')).text();
    fake.ends = false;
    const reply = await post('/api/workflows/w/run?cancelOnDisconnect=true');
    shutdown.abort();
    expect(framesOf(await reply.text()).map((frame) => frame.id)).toEqual(['1']);
    expect(fake.canceled).toEqual([]);
  });

  it('refuses a malformed flag and starts nothing', async () => {
    expect((await post('/api/workflows/w/run?cancelOnDisconnect=maybe')).status).toBe(400);
    expect(fake.started).toEqual([]);
  });
});

describe('/api/runs', () => {
  it('lists by workflow, status and page', async () => {
    const reply = await fetch(`${url}/api/runs?workflow=w&status=failed&pageSize=2`);
    expect(await reply.json()).toEqual({ runs: [], nextPageToken: '' });
    expect(fake.queries).toEqual([{ workflow: 'w', status: 'failed', pageSize: 2, before: undefined }]);
    expect((await fetch(`${url}/api/runs?status=nope`)).status).toBe(400);
  });

  it('shows a run', async () => {
    expect(await (await fetch(`${url}/api/runs/r1`)).json()).toEqual({ runId: 'r1', nodes: {}, ...CALL });
  });

  it('replays the events after a cursor', async () => {
    const after = async (query: string, headers: Record<string, string> = {}) =>
      framesOf(await (await fetch(`${url}/api/runs/r1/events${query}`, { headers })).text()).map((frame) => frame.id);
    expect(await after('')).toEqual(['1', '2', '3']);
    expect(await after('?since=1')).toEqual(['2', '3']);
    expect(await after('?since=1', { 'last-event-id': '2' })).toEqual(['3']);
    expect(await after('?since=3')).toEqual([]);
  });

  it('ends with the last event so far where nothing else is wanted', async () => {
    Object.assign(fake, { ends: false, last: 1 });
    const ids = async (query: string) =>
      framesOf(await (await fetch(`${url}/api/runs/r1/events${query}`)).text()).map((frame) => frame.id);
    expect(await ids('?live=false')).toEqual(['1']);
    expect(await ids('?live=false&since=1')).toEqual([]);
    expect((await fetch(`${url}/api/runs/r1/events?live=no`)).status).toBe(400);
  });

  it.each(['?since=x', '?since=-1', '?since=4', '?since=1&since=2'])('refuses the cursor %s', async (query) => {
    const reply = await fetch(`${url}/api/runs/r1/events${query}`);
    expect(await problemOf(reply)).toMatchObject({ status: 400, path: 'since' });
  });

  it('answers 404 for an unknown run before anything is streamed', async () => {
    const reply = await fetch(`${url}/api/runs/nope/events`);
    expect(await problemOf(reply)).toMatchObject({ status: 404, detail: 'run not found' });
  });

  it('cancels', async () => {
    const reply = await post('/api/runs/r1/cancel');
    expect([reply.status, await reply.json()]).toEqual([200, { runId: 'r1', status: 'canceled', children: [] }]);
  });
});
