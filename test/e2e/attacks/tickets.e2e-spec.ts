import { createHash } from 'node:crypto';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { databaseText } from '../../support/database-text.js';
import { GatewayClient, refusedUpgrade } from '../../support/gateway-client.js';
import { type Parley, startParley } from '../../support/parley.js';
import { useStage } from '../../support/stage.js';
import { until } from '../../support/until.js';
import { Api, input, linear, output, unique } from '../../support/workflow.js';

const [ann, eve] = [testCaller('ann'), testCaller('eve')];
const env = apiKeyEnv(ann, eve);
const stage = useStage({ env });
let other: Parley;
let api: Api;

beforeAll(async () => {
  other = await startParley({ databaseUrl: stage.database.url, env });
  api = new Api(stage.parley.url, ann.headers);
});

afterAll(() => other?.stop());

interface Ticket {
  ticket: string;
  protocols: string[];
  expiresAt: string;
}

async function ticketOf(from: Api): Promise<Ticket> {
  const { status, body } = await from.call<Ticket>('POST', '/tickets');
  expect([status, body]).toEqual([
    201,
    { ticket: expect.any(String), protocols: expect.any(Array), expiresAt: expect.any(String) },
  ]);
  return body;
}

/** Comes with a ticket. @returns 101, or the status of the refusal */
async function come(url: string, { protocols }: Ticket): Promise<number> {
  const opened = await GatewayClient.open(url, {}, { protocols }).catch(() => undefined);
  if (!opened)
    return (await refusedUpgrade(`${url}/events`, { 'sec-websocket-protocol': protocols.join(', ') })).status;
  await opened.cut();
  return 101;
}

describe('a ticket', () => {
  it('opens one WebSocket, and no other at any replica', async () => {
    for (const [first, second] of [
      [stage.parley.url, stage.parley.url],
      [stage.parley.url, other.url],
      [other.url, stage.parley.url],
    ] as const) {
      const ticket = await ticketOf(api);
      expect([await come(first, ticket), await come(second, ticket)]).toEqual([101, 401]);
    }
  });

  it('opens one of many that come with it at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { protocols } = await ticketOf(api);
      const urls = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? stage.parley.url : other.url));
      const clients = await Promise.allSettled(urls.map((url) => GatewayClient.open(url, {}, { protocols })));
      const open = clients.filter((it) => it.status === 'fulfilled');
      await Promise.all(open.map(({ value }) => value.cut()));
      expect(open).toHaveLength(1);
    }
  });

  it('says nothing of its caller, and is in no row as it is', async () => {
    const { ticket, protocols } = await ticketOf(api);
    expect(ticket).toMatch(/^[\w-]{43}$/);
    expect(protocols).toEqual(['parley.events', `parley.ticket.${ticket}`]);
    const seen = [ticket, Buffer.from(ticket, 'base64url').toString('latin1')];
    const told = ['ann', ann.key, ...(['base64url', 'hex'] as const).map((it) => digest(ann.key, it))];
    for (const text of seen) expect(told.filter((it) => text.includes(it))).toEqual([]);
    expect(await databaseText(stage.database)).not.toContain(ticket);
    expect(stage.parley.logs()).not.toContain(ticket);
    const [row] = await stage.database.query('SELECT tenant, owner, permissions FROM socket_ticket WHERE digest = $1', [
      digest(ticket, 'base64url'),
    ]);
    expect(row).toEqual({ tenant: '', owner: 'ann', permissions: ['agents', 'workflows', 'prompts', 'admin'] });
  });

  it('falls with the key of whoever asked for it, at every replica at once', async () => {
    const { body: made } = await api.call<{ id: string; key: string }>('POST', '/keys', { name: 'jane' });
    const jane = new Api(stage.parley.url, { authorization: `Bearer ${made.key}` });
    const tickets = [await ticketOf(jane), await ticketOf(jane)];
    expect((await api.call('DELETE', `/keys/${made.id}`)).status).toBe(204);
    expect([await come(other.url, tickets[0]!), await come(stage.parley.url, tickets[1]!)]).toEqual([401, 401]);
  });

  it('ends by itself, or with a token, and is cleared away when another is made', async () => {
    const [late, tokenless] = [await ticketOf(api), await ticketOf(api)];
    const before = Date.parse(late.expiresAt);
    expect(Math.abs(before - Date.now() - 30_000)).toBeLessThan(25_000);
    const row = (column: string, { ticket }: Ticket) =>
      stage.database.query(`UPDATE socket_ticket SET ${column} = now() WHERE digest = $1`, [
        digest(ticket, 'base64url'),
      ]);
    await row('ends_at', late);
    await row('token_ends_at', tokenless);
    expect([await come(stage.parley.url, late), await come(other.url, tokenless)]).toEqual([401, 401]);
    await stage.database.query(`UPDATE socket_ticket SET ends_at = now() - interval '1 minute'`);
    await ticketOf(api);
    expect(await stage.database.query('SELECT count(*)::int AS kept FROM socket_ticket')).toEqual([{ kept: 1 }]);
  });

  it('shows what its caller may see, whatever else comes with it', async () => {
    const { protocols } = await ticketOf(new Api(stage.parley.url, eve.headers));
    const client = await GatewayClient.open(other.url, {}, { protocols, headers: ann.headers });
    const theirs = await GatewayClient.open(other.url, {}, { headers: ann.headers });
    const mine = new Api(stage.parley.url, eve.headers);
    const { name } = await api.save(linear(unique('w'), input('in'), output('out')));
    const hers = await api.start(name, { in: 'x' });
    await until(() => theirs.events.some((it) => it.taskId === hers), { what: "ann's run" });
    // Eve's comes after it: when it is there, Ann's would have been.
    const his = await mine.start(name, { in: 'x' });
    await until(() => client.events.some((it) => it.taskId === his), { what: "eve's run" });
    expect(client.events.filter((it) => it.taskId === hers)).toEqual([]);
    await Promise.all([client.cut(), theirs.cut()]);
  });

  it('that nobody made opens nothing, before any upgrade', async () => {
    for (const ticket of ['', 'x', 'e30.AA', 'a'.repeat(43), 'a'.repeat(9_000), "'; DROP TABLE task; --"]) {
      const protocol = `parley.events, parley.ticket.${encodeURIComponent(ticket)}`;
      const { status, body } = await refusedUpgrade(`${stage.parley.url}/events`, {
        'sec-websocket-protocol': protocol,
      });
      expect([ticket.slice(0, 50), status, JSON.parse(body)]).toEqual([
        ticket.slice(0, 50),
        401,
        expect.objectContaining({ status: 401 }),
      ]);
    }
  });
});

function digest(text: string, form: 'base64url' | 'hex'): string {
  return createHash('sha256').update(text).digest(form);
}
