import * as grpc from '@grpc/grpc-js';
import pg from 'pg';
import { rest, rpc } from '../support/a2a.js';
import { DatabaseLink } from '../support/database-link.js';
import { refusedUpgrade } from '../support/gateway-client.js';
import { GrpcWire } from '../support/grpc-wire.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { type Parley, startParley } from '../support/parley.js';
import { until } from '../support/until.js';
import { Api, echo, linear, unique } from '../support/workflow.js';

const MESSAGE = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
const OLD_MESSAGE = {
  message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] },
};
/** What may be said of a Message that was taken in before the journal was known to stand still. */
const NOT_CONFIRMED = 'MESSAGE_NOT_CONFIRMED';
const AWAY = { reason: 'DATABASE_UNAVAILABLE' };

/** An answer of any surface, as far as it says that it cannot be given now. */
interface Refusal {
  status: number;
  headers: Headers;
  text: string;
}

function expectUnavailable({ status, headers, text }: Refusal): void {
  expect([status, text]).toEqual([503, expect.stringContaining(AWAY.reason)]);
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(text).not.toMatch(/ECONN|terminated|pg_|select|-read only/i);
}

async function told(reply: Promise<{ status: number; headers: Headers; body: unknown }>): Promise<Refusal> {
  const { status, headers, body } = await reply;
  return { status, headers, text: JSON.stringify(body) };
}

describe('a database out of reach', () => {
  let postgres: OwnPostgres;
  let link: DatabaseLink;
  let parley: Parley;
  let api: Api;
  let wire: GrpcWire;
  let base: string;
  let name: string;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    link = await DatabaseLink.to(postgres.url);
    parley = await startParley({ databaseUrl: link.url, env: { GRPC_PORT: '0', JOURNAL_STALL_LIMIT: '2s' } });
    const card = await rest<{ supportedInterfaces: { url: string; protocolBinding: string }[] }>(
      parley.url,
      'GET',
      '/.well-known/agent-card.json',
    );
    const { url: target } = card.body.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')!;
    wire = new GrpcWire(() => ({ url: parley.url, grpc: target }));
    api = new Api(parley.url);
    ({ name } = await api.save(linear(unique('away'), echo('a'))));
    base = api.base(name);
  });

  afterAll(async () => {
    await parley?.stop();
    await link?.stop();
    await postgres?.stop();
  });

  it('is 503 with Retry-After on every surface, and passes', async () => {
    link.cut();
    try {
      await until(async () => (await fetch(`${parley.url}/health/ready`)).status === 503, { what: 'not to be ready' });
      const old = { headers: { 'a2a-version': '0.3' } };
      const refusals = await Promise.all([
        told(rpc(base, 'SendMessage', MESSAGE)),
        told(rpc(base, 'SendStreamingMessage', MESSAGE)),
        told(rpc(base, 'GetTask', { id: 'x' })),
        told(rpc(base, 'ListTasks', {})),
        told(rpc(base, 'message/send', OLD_MESSAGE, old)),
        told(rest(base, 'POST', '/message:send', { body: MESSAGE })),
        told(rest(base, 'GET', '/tasks')),
        told(rest(base, 'GET', '/v1/tasks/x', old)),
        told(rest(base, 'GET', '/.well-known/agent-card.json')),
        api.call('GET', '/workflows'),
        api.call('PUT', `/workflows/${name}`, linear(name, echo('a'))),
        api.call('POST', `/workflows/${name}/runs`, {}),
        api.call('GET', '/runs'),
        api.call('GET', '/conversations'),
        api.call('GET', '/brainstorms'),
        told(streamRefusal(`${parley.url}/api/events`)),
      ]);
      for (const refusal of refusals) expectUnavailable(refusal);
      expect(await refusedUpgrade(`${parley.url}/events`)).toMatchObject({
        status: 503,
        body: expect.stringContaining(AWAY.reason),
      });
      expect(await wire.refusal(`workflows/${name}`, 'SendMessage', MESSAGE)).toMatchObject({
        code: grpc.status.UNAVAILABLE,
      });
    } finally {
      link.mend();
    }
    await until(async () => (await api.call('GET', '/workflows')).status === 200, {
      what: 'it to pass',
    });
  });

  it('answers a Message to a node with 503 and Retry-After within JOURNAL_STALL_LIMIT, then at once', async () => {
    const node = api.base(name, 'a');
    const send = (): Promise<Refusal>[] => [
      told(rpc(node, 'SendMessage', MESSAGE)),
      told(rest(node, 'POST', '/message:send', { body: MESSAGE })),
      told(rest(node, 'POST', '/message:stream', { body: MESSAGE })),
      told(rpc(node, 'message/send', OLD_MESSAGE, { headers: { 'a2a-version': '0.3' } })),
    ];
    // From now on the node's agent is known, so that no query is made before the Message is taken in.
    const taken = async (): Promise<boolean> => {
      return (await rest(node, 'POST', '/message:send', { body: MESSAGE })).status === 200;
    };
    await until(taken, { what: 'the journal to write again' });
    link.cut();
    try {
      for (const { status, headers, text } of await Promise.all(send())) {
        expect([status, text]).toEqual([503, expect.stringMatching(`${NOT_CONFIRMED}|${AWAY.reason}`)]);
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
      for (const refusal of await Promise.all(send())) expectUnavailable(refusal);
    } finally {
      link.mend();
    }
    await until(taken, { what: 'Messages to be taken in' });
  });

  it('so is one that only reads for longer than a write waits for it', async () => {
    const admin = new pg.Client({ connectionString: postgres.url, options: '-c default_transaction_read_only=off' });
    await admin.connect();
    try {
      await admin.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await admin.query('SELECT pg_reload_conf()');
      await until(async () => {
        const { rows } = await admin.query('SELECT pg_reload_conf()');
        return rows.length === 1 && (await readsOnly(postgres.url));
      });
      expectUnavailable(await api.call('PUT', `/workflows/${name}`, linear(name, echo('a'))));
    } finally {
      await admin.query('ALTER SYSTEM RESET default_transaction_read_only');
      await admin.query('SELECT pg_reload_conf()');
      await admin.end();
    }
  });
});

/** What a stream is refused with; one that begins is cut. */
async function streamRefusal(url: string): Promise<{ status: number; headers: Headers; body: unknown }> {
  const response = await fetch(url);
  if (response.ok) await response.body?.cancel();
  return { status: response.status, headers: response.headers, body: response.ok ? 'a stream' : await response.json() };
}

async function readsOnly(url: string): Promise<boolean> {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  try {
    const { rows } = await session.query<{ on: string }>(`SELECT current_setting('transaction_read_only') AS on`);
    return rows[0]?.on === 'on';
  } finally {
    await session.end();
  }
}
