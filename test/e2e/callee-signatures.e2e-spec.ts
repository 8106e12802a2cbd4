import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';
import { CardAgent, type CardSigning, cardSigning, sendJson } from '../support/card-agent.js';
import { type Parley, startParley } from '../support/parley.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, external, linear, output, type Run, unique } from '../support/workflow.js';

/** Warns, as it does unless told otherwise; the replica beside it requires signatures. */
const stage = useStage();
const agents: CardAgent[] = [];
let strict: Parley;
let own: CardSigning;
let operators: CardSigning;
let keyServer: ReturnType<typeof createServer>;
let keyUrl: string;
/** What was asked of the server of trusted keys. */
const keysAsked: string[] = [];

beforeAll(async () => {
  [own, operators] = await Promise.all([cardSigning('own'), cardSigning('operators')]);
  keyServer = createServer((request, response) => {
    keysAsked.push(request.url ?? '');
    sendJson(response, operators.jwks);
  });
  keyServer.listen(0, '127.0.0.1');
  await once(keyServer, 'listening');
  keyUrl = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}`;
  const env = { CARD_SIGNATURES: 'require', CARD_TRUSTED_KEYS: `${keyUrl}/keys.json`, CARD_CHANGE_POLICY: 'allow' };
  strict = await startParley({ databaseUrl: stage.database.url, env });
});

afterAll(async () => {
  for (const agent of agents) await agent.stop();
  await strict?.stop();
  keyServer?.closeAllConnections();
  keyServer?.close();
});

/** An agent that publishes keys of its own at `/jwks.json`. */
async function agent(): Promise<CardAgent> {
  const made = await CardAgent.start();
  made.places.set('/jwks.json', (_request, response) => sendJson(response, own.jwks));
  agents.push(made);
  return made;
}

function callFrom({ url }: { url: string }, callee: { url: string }): Promise<Run> {
  return new Api(url).finish(linear(unique('signs'), external('there', callee.url)));
}

async function signed(callee: CardAgent, header: JsonObject, by = own): Promise<JsonObject> {
  return by.sign(callee.plainCard(), header);
}

describe('CARD_SIGNATURES=require', () => {
  it('calls an agent whose card is signed by a key of its own origin', async () => {
    const callee = await agent();
    callee.card = await signed(callee, { jku: `${callee.url}/jwks.json` });
    expect((await callFrom(strict, callee)).status).toBe('completed');
    expect(callee.asked).toContain('/jwks.json');
  });

  it('calls an agent whose card is signed by a key that the operator trusts', async () => {
    const callee = await agent();
    callee.card = await signed(callee, {}, operators);
    expect((await callFrom(strict, callee)).status).toBe('completed');
    expect(keysAsked).toContain('/keys.json');
  });

  it('calls another Parley, whose cards are signed, but not one that does not sign', async () => {
    const name = unique('signed');
    await stage.api.save(linear(name, echo('again'), output('out')));
    expect((await callFrom(strict, { url: stage.api.base(name) })).status).toBe('completed');
    const silent = await startParley({ databaseUrl: stage.database.url, env: { CARD_SIGNING: 'off' } });
    const run = await callFrom(strict, { url: new Api(silent.url).base(name) });
    await silent.stop();
    expect(JSON.stringify(run)).toContain('it has no signature');
  });

  it.each<[string, (callee: CardAgent) => Promise<JsonObject | undefined>, string]>([
    ['is not signed', async (callee) => callee.plainCard(), 'it has no signature'],
    ['is not there', async () => undefined, 'the agent has no card'],
    [
      'was changed after it was signed',
      async (callee) => ({ ...(await signed(callee, { jku: `${callee.url}/jwks.json` })), name: 'mallory' }),
      'does not fit the card',
    ],
    ['is signed by a stranger', async (callee) => signed(callee, { kid: 'stranger' }), 'neither trusted nor published'],
    [
      'names keys at another origin',
      async (callee) => signed(callee, { jku: `${keyUrl}/of-another` }),
      'neither trusted nor published',
    ],
    [
      'names keys that are not there',
      async (callee) => signed(callee, { jku: `${callee.url}/nothing` }),
      'could not be fetched',
    ],
    [
      'has a signature of no algorithm',
      async (callee) => ({
        ...callee.plainCard(),
        signatures: [{ protected: Buffer.from('{"alg":"none","kid":"own"}').toString('base64url'), signature: '' }],
      }),
      'an algorithm that is not one of',
    ],
  ])('does not call an agent whose card %s', async (_what, make, text) => {
    const callee = await agent();
    callee.card = await make(callee);
    const run = await callFrom(strict, callee);
    expect(run.status).toBe('failed');
    expect(JSON.stringify(run)).toContain(text);
    expect(callee.messages).toBe(0);
    expect(keysAsked).not.toContain('/of-another');
  });

  it('follows no redirect to keys elsewhere', async () => {
    const callee = await agent();
    callee.card = await signed(callee, { jku: `${callee.url}/moved` });
    callee.places.set('/moved', (_request, response) =>
      response.writeHead(302, { location: `${keyUrl}/redirected` }).end(),
    );
    expect((await callFrom(strict, callee)).status).toBe('failed');
    expect(keysAsked).not.toContain('/redirected');
  });

  it('looks again at the next call where keys were not there', async () => {
    const callee = await agent();
    callee.card = await signed(callee, { jku: `${callee.url}/late.json` });
    expect((await callFrom(strict, callee)).status).toBe('failed');
    callee.places.set('/late.json', (_request, response) => sendJson(response, own.jwks));
    expect((await callFrom(strict, callee)).status).toBe('completed');
  });

  it('tries again where keys were out of reach, as a node asks for', async () => {
    const callee = await agent();
    callee.card = await signed(callee, { jku: `${callee.url}/busy.json` });
    let asked = 0;
    callee.places.set('/busy.json', (_request, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(503).end();
      else sendJson(response, own.jwks);
    });
    const there = { ...external('there', callee.url), retry: { attempts: 2, delay: '10ms' } };
    const run = await new Api(strict.url).finish(linear(unique('signs'), there));
    expect([run.status, run.nodes['there']?.attempts]).toEqual(['completed', 2]);
  });

  it('is said to conversations by a code of its own', async () => {
    const callee = await agent();
    const { body } = await new Api(strict.url).call('POST', '/conversations', {
      requester: callee.url,
      target: callee.url,
      message: 'hello',
    });
    const seen = await until(async () => {
      const conversation = await new Api(strict.url).call('GET', `/conversations/${String(body.conversationId)}`);
      return conversation.body.status === 'complete' && conversation.text;
    });
    expect(seen).toContain('not signed as required');
  });
});

describe('CARD_SIGNATURES=warn', () => {
  it('calls an agent whose signature is wrong, and warns once', async () => {
    const callee = await agent();
    callee.card = { ...(await signed(callee, { jku: `${callee.url}/jwks.json` })), name: 'mallory' };
    const before = await metric(stage.parley, 'parley_card_signatures_total', 'invalid');
    for (let n = 0; n < 2; n += 1) expect((await callFrom(stage.parley, callee)).status).toBe('completed');
    await until(async () => (await metric(stage.parley, 'parley_card_signatures_total', 'invalid')) === before + 1);
    const warnings = (): string[] =>
      stage.parley
        .logs()
        .split('\n')
        .filter((line) => line.includes(callee.url) && line.includes('No signature of an agent card is valid'));
    await until(() => warnings().length > 0, { what: 'a warning' });
    expect(warnings()).toHaveLength(1);
  });

  it('says nothing of agents that do not sign', async () => {
    const callee = await agent();
    expect((await callFrom(stage.parley, callee)).status).toBe('completed');
    await until(async () => (await metric(stage.parley, 'parley_card_signatures_total', 'unsigned')) > 0);
    expect(stage.parley.logs()).not.toContain(callee.url);
  });
});
