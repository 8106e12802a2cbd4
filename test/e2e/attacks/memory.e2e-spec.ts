import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { JsonObject } from '#libs/protocol';
import { detail, rpc, type RpcReply, sendParams, sendTask, VERSION } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { GrpcWire } from '../../support/grpc-wire.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { untilReady } from '../../support/until-ready.js';
import { until } from '../../support/until.js';
import { Api, echo, input, linear, output, script, unique } from '../../support/workflow.js';

takeTurns();

/** A safety net: how long a machine may take for hundreds of megabytes. */
const PATIENCE_MS = 300_000;

/** As large as BODY_LIMIT lets it be. */
const LARGE = 'x'.repeat(4 * 1024 ** 2 - 1000);
/** Unbounded, each byte of them takes four of the heap, which has 256 megabytes. */
const AT_ONCE = 24;

const greeting = (name: string) =>
  linear(
    name,
    input('name'),
    echo('writer', { prompt: 'Good day, {{name}}!' }),
    output('result', { prompt: '{{writer}}' }),
  );

/** Between two Messages of who goes on beside a flood, which needs the processor. */
const PAUSE_MS = 50;

type Reply = RpcReply<{ task?: { id: string; status: { state: string } } }>;

/** Every Message at once; what became of each. */
async function flood(base: string, headers: Record<string, string> = {}): Promise<Reply[]> {
  const send = (): Promise<Reply> => rpc(base, 'SendMessage', sendParams(LARGE), { headers });
  return Promise.all(Array.from({ length: AT_ONCE }, send));
}

function outcome({ status, headers, body }: Reply): JsonObject {
  const told = { status, state: body.result?.task?.status.state ?? body.error?.message ?? '' };
  return status === 200 ? told : { ...told, retryAfter: headers.get('retry-after') };
}

const COMPLETED = { status: 200, state: 'TASK_STATE_COMPLETED' };
const REFUSED = { status: 429, state: expect.stringMatching(/in flight/), retryAfter: '1' };

async function nothingInFlight(url: string): Promise<void> {
  await until(async () => (await metric({ url }, 'parley_in_flight_bytes')) === 0, { what: 'nothing to be in flight' });
}

describe('a caller that sends as much as it can', () => {
  const [large, small] = [testCaller('large'), testCaller('small')];
  const stage = useStage({ env: { ...apiKeyEnv(large, small), NODE_OPTIONS: '--max-old-space-size=256' } });

  it(
    'is refused before anything is read, while what was accepted completes and another caller notices nothing',
    async () => {
      const api = new Api(stage.parley.url, small.headers);
      const { name } = await api.save(greeting(unique('greeting')));
      let flooding = true;
      const served: string[] = [];
      const others = Array.from({ length: 4 }, async () => {
        while (flooding) {
          served.push((await sendTask(api.base(name), 'Ada', { headers: small.headers })).status.state);
          await delay(PAUSE_MS);
        }
      });
      const outcomes = (await flood(api.base(name), large.headers)).map(outcome);
      flooding = false;
      await Promise.all(others);
      const completed = outcomes.filter(({ status }) => status === 200);
      expect(completed.length).toBeGreaterThan(0);
      expect(completed).toEqual(completed.map(() => COMPLETED));
      const refused = outcomes.filter(({ status }) => status !== 200);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused).toEqual(refused.map(() => REFUSED));
      expect(new Set(served)).toEqual(new Set(['TASK_STATE_COMPLETED']));
      await nothingInFlight(stage.parley.url);
    },
    PATIENCE_MS,
  );

  it(
    'can keep what it made in memory no longer than its limit allows',
    async () => {
      const api = new Api(stage.parley.url, large.headers);
      const name = unique('sleeper');
      const sleeper = script('sleeper', { status: 'working' }, { sleep: 3_600_000 }, { complete: 'done' });
      await api.save(linear(name, sleeper));
      const base = api.base(name, 'sleeper');
      const params = sendParams(LARGE, { configuration: { returnImmediately: true } });
      const { headers } = large;
      const last = await until(
        async () => {
          const reply: Reply = await rpc(base, 'SendMessage', params, { headers });
          return reply.status !== 200 && reply;
        },
        { what: 'a refusal' },
      );
      expect(outcome(last)).toEqual(REFUSED);
      expect(
        (await sendTask(base, 'small', { headers, configuration: { returnImmediately: true } })).status.state,
      ).toBe('TASK_STATE_SUBMITTED');
      await untilReady(stage.parley);
    },
    PATIENCE_MS,
  );
});

describe('callers that leave', () => {
  const [ann, bob] = [testCaller('ann'), testCaller('bob')];
  const stage = useStage({ env: { ...apiKeyEnv(ann, bob), GRPC_PORT: '0', CALLER_IN_FLIGHT_LIMIT: '8mb' } });

  it('leave nothing behind, also where it is still being found out who they are', async () => {
    const { hostname, port } = new URL(stage.parley.url);
    const head = ({ key }: typeof ann): string =>
      `POST /a2a HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n';
    for (let round = 0; round < 5; round += 1) {
      // A key is looked up anew once it was not used for two seconds; a made-up one always is.
      const keys = [ann, bob, testCaller('nobody')];
      await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const socket = connect(Number(port), hostname);
          await once(socket, 'connect');
          await new Promise<void>((resolve) => socket.write(head(keys[index % keys.length]!), () => resolve()));
          socket.resetAndDestroy();
        }),
      );
    }
    await nothingInFlight(stage.parley.url);
  });

  it('keep no place once they were refused', async () => {
    const { hostname, port, host } = new URL(stage.parley.url);
    const head = (length: number): string =>
      `POST /a2a HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bob.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    const open = async (text: string): Promise<{ socket: Socket; answers(): string }> => {
      const socket = connect(Number(port), hostname).setEncoding('utf8');
      let answers = '';
      socket.on('data', (piece: string) => (answers += piece));
      await once(socket, 'connect');
      socket.write(text);
      return { socket, answers: () => answers };
    };
    // As much as may be on its way, of which nothing comes.
    const first = await open(head(3_000_000));
    await until(async () => (await metric(stage.parley, 'parley_in_flight_bytes')) >= 3_000_000, { what: 'the first' });
    const refused = async (length: number) => {
      const caller = await open(head(length));
      await until(() => caller.answers().includes('HTTP/1.1 429'), { what: 'a refusal' });
      return caller;
    };
    for (let leaver = 0; leaver < 12; leaver += 1) (await refused(4_000_000)).socket.destroy();
    const stayer = await refused(4_000_000);
    stayer.socket.write(`${' '.repeat(4_000_000)}GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await until(() => stayer.answers().includes('HTTP/1.1 200'), { what: 'the next answer of the connection' });
    stayer.socket.destroy();
    first.socket.destroy();
    await nothingInFlight(stage.parley.url);
  });

  it('hold nothing over gRPC while they only listen', async () => {
    const api = new Api(stage.parley.url, ann.headers);
    const sleeper = script('sleeper', { status: 'working' }, { sleep: 60_000 }, { complete: 'done' });
    const { name } = await api.save(linear(unique('sleeper'), sleeper));
    const target = await grpcTarget(stage.parley.url);
    const grpc = new GrpcWire(() => ({ url: '', grpc: target }));
    const path = `workflows/${name}/nodes/sleeper`;
    const open = await grpc.open(path, 'SendStreamingMessage', sendParams('x'), { ...VERSION, ...ann.headers });
    try {
      const held = await until(
        async () => {
          const bytes = await metric(stage.parley, 'parley_in_flight_bytes');
          return bytes > 0 && bytes < 10_000 && bytes;
        },
        { what: 'no more than the small Message to count' },
      );
      expect(held).toBeLessThan(10_000);
    } finally {
      open.leave();
    }
  });
});

describe('a body that does not say how long it is', () => {
  const stage = useStage({ env: { IN_FLIGHT_LIMIT: '64mb' } });

  /** Sends a Message in pieces while another request is under way, and gives the answer. */
  async function sendInPieces(base: string, bytes: number): Promise<{ status: number; retryAfter: string | null }> {
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: sendParams('x'.repeat(bytes)),
    });
    const pieces = text.match(/[^]{1,16384}/g) ?? [];
    const response = await fetch(base, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: ReadableStream.from(pieces.map((it) => new TextEncoder().encode(it))),
      duplex: 'half',
    });
    await response.text();
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  }

  it('is no obstacle to the next request of its connection where nobody reads it', async () => {
    const { hostname, port } = new URL(stage.parley.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    let answers = '';
    socket.on('data', (text: string) => (answers += text));
    await once(socket, 'connect');
    const head = `Host: ${hostname}\r\n`;
    const chunk = `493e0\r\n${' '.repeat(300_000)}\r\n0\r\n\r\n`;
    // A body without a type is refused unread.
    socket.write(`POST /api/runs/none/cancel HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
    await until(() => /HTTP\/1\.1 4\d\d/.test(answers), { what: 'the first answer' });
    socket.write(`GET /health/live HTTP/1.1\r\n${head}\r\n`);
    await until(() => answers.includes('HTTP/1.1 200'), { what: 'the second answer' });
    socket.destroy();
  });

  it('is counted as it comes', async () => {
    const { name } = await stage.api.save(linear(unique('echo'), echo('echo')));
    const base = stage.api.base(name, 'echo');
    expect(await sendInPieces(base, 2_000_000)).toEqual({ status: 200, retryAfter: null });
    const together = await Promise.all(Array.from({ length: 10 }, () => sendInPieces(base, 2_000_000)));
    expect(together).toContainEqual({ status: 200, retryAfter: null });
    expect(together).toContainEqual({ status: 503, retryAfter: '1' });
    await nothingInFlight(stage.parley.url);
  });
});

describe('a service without authentication', () => {
  const stage = useStage({ env: { NODE_OPTIONS: '--max-old-space-size=256' } });

  it(
    'survives the flood, and takes small Messages meanwhile',
    async () => {
      const { name } = await stage.api.save(greeting(unique('greeting')));
      const base = stage.api.base(name);
      const [flooded, ...small] = await Promise.all([flood(base), ...['a', 'b', 'c'].map((it) => sendTask(base, it))]);
      expect(small.map(({ status }) => status.state)).toEqual(small.map(() => 'TASK_STATE_COMPLETED'));
      const statuses = new Set(flooded.map(({ status }) => status));
      expect([...statuses].filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
      expect(statuses.has(200)).toBe(true);
      await untilReady(stage.parley);
    },
    PATIENCE_MS,
  );
});

describe('a caller that floods gRPC', () => {
  const [large, small] = [testCaller('large'), testCaller('small')];
  const env = { ...apiKeyEnv(large, small), GRPC_PORT: '0', IN_FLIGHT_LIMIT: '128mb' };
  const stage = useStage({ env: { ...env, NODE_OPTIONS: '--max-old-space-size=256' } });

  it(
    'is refused as over HTTP, and others are not',
    async () => {
      const api = new Api(stage.parley.url, small.headers);
      const { name } = await api.save(linear(unique('echo'), echo('echo')));
      const path = `workflows/${name}/nodes/echo`;
      const grpc = new GrpcWire(() => ({ url: '', grpc: target }));
      const target = await grpcTarget(stage.parley.url);
      // Clients of gRPC take answers of four megabytes, and an answer repeats its Message.
      const text = 'x'.repeat(900_000);
      const flooded = Array.from({ length: 40 }, () =>
        grpc.refusal(path, 'SendMessage', sendParams(text), { ...VERSION, ...large.headers }),
      );
      const others = Array.from({ length: 10 }, () =>
        grpc.refusal(path, 'SendMessage', sendParams('Ada'), { ...VERSION, ...small.headers }),
      );
      expect((await Promise.all(others)).map(({ code }) => code)).toEqual(others.map(() => status.OK));
      const codes = (await Promise.all(flooded)).map(({ code }) => code);
      expect(codes).toContain(status.OK);
      expect(codes).toContain(status.RESOURCE_EXHAUSTED);
      expect(codes.filter((code) => code !== status.OK && code !== status.RESOURCE_EXHAUSTED)).toEqual([]);
      await nothingInFlight(stage.parley.url);
    },
    PATIENCE_MS,
  );
});

async function grpcTarget(url: string): Promise<string> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  return card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url ?? '';
}

describe('an event that is too large', () => {
  const stage = useStage({ env: { EVENT_LIMIT: '1mb' } });
  const LIMIT = 'One event of a task has at most 1048576 bytes (EVENT_LIMIT); this one has more.';

  it('is refused where a Message would begin with it, and nothing is written', async () => {
    const { name } = await stage.api.save(linear(unique('echo'), echo('echo')));
    const before = await stage.database.counts();
    const base = stage.api.base(name, 'echo');
    const reply = await rpc(base, 'SendMessage', sendParams('x'.repeat(1_500_000)));
    expect([reply.status, reply.body.error?.message]).toEqual([413, LIMIT]);
    expect(detail(reply.body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'MESSAGE_TOO_LARGE' });
    expect(await stage.database.counts()).toEqual(before);
  });

  it('fails the Task whose agent makes it, naming the limit', async () => {
    const twice = script('twice', { artifact: { parts: [{ text: '{{text}}{{text}}' }] } }, { complete: 'done' });
    const { name } = await stage.api.save(linear(unique('twice'), twice));
    const task = await sendTask(stage.api.base(name, 'twice'), 'x'.repeat(600_000));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(task.status.message?.parts).toMatchObject([{ text: LIMIT }]);
    expect(task.artifacts).toBeUndefined();
  });
});
