import { createHmac } from 'node:crypto';
import { AgentCard } from '@a2a-js/sdk';
import { canonicalAgentCard, canonicalJson, type JsonObject } from '#libs/protocol';
import {
  calculateJwkThumbprint,
  compactVerify,
  createRemoteJWKSet,
  CompactSign,
  type CryptoKey,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import { cardVerifier } from '../../../docs/cards/verify-card.mjs';
import { sendTask } from '../../support/a2a.js';
import { freePort, type Parley, startParley } from '../../support/parley.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { SampleReceiver } from '../../support/sample-receiver.js';
import { until } from '../../support/until.js';
import { type ReceivedNotification, WebhookReceiver } from '../../support/webhook-receiver.js';
import { Api, linear, script, unique } from '../../support/workflow.js';

const SIGNATURE = 'x-a2a-notification-signature';
const ID = 'x-a2a-notification-id';

let database: TestDatabase;
let parley: Parley;
/** The key that the service signs with, which an attacker does not have: it shows what the verifier itself asks for. */
let known: { kid: string; key: CryptoKey; publicKey: JWK };
let receiver: SampleReceiver;
let told: ReceivedNotification;
let elsewhere: ReceivedNotification;

beforeAll(async () => {
  database = await freshDatabase();
  known = await keptKey(database);
  parley = await startParley({ databaseUrl: database.url, env: { PORT: String(await freePort()) } });
  const [hook, other] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  told = await notification(hook);
  elsewhere = await notification(other);
  // From here on the guide's receiver stands at the address that the notification was for.
  await Promise.all([hook.stop(), other.stop()]);
  receiver = await SampleReceiver.start(parley.url, hook.url);
});

afterAll(async () => {
  await receiver?.stop();
  await parley?.stop();
  await database?.drop();
});

describe('the receiver of the guide', () => {
  it('takes what the service sends it, once', async () => {
    const base = await finishing();
    await sendTask(base, 'go', { configuration: { taskPushNotificationConfig: { url: receiver.url } } });
    await until(() => receiver.output.includes('TASK_STATE_COMPLETED'), { what: 'the last one' });
    const [id] = /^[0-9a-f-]{36}\.1(?= )/m.exec(receiver.output) ?? [];
    expect(receiver.taken(id ?? '')).toBe(1);
  });

  it('takes a copy of a request, and drops it', async () => {
    for (const _ of [1, 2, 3]) expect((await present(told)).status).toBe(204);
    expect(receiver.taken(told.id)).toBe(1);
  });

  it('refuses a signed agent card, which anybody can fetch', async () => {
    const card = (await (await fetch(`${parley.url}/a2a/.well-known/agent-card.json`)).json()) as JsonObject & {
      signatures: { protected: string; signature: string }[];
    };
    const [{ protected: head, signature }] = card.signatures as [{ protected: string; signature: string }];
    expect(decodeProtectedHeader({ protected: head }).typ).toBe('JOSE');
    const { signatures: _, ...content } = card;
    const body = canonicalJson(canonicalAgentCard(AgentCard.fromJSON(content)));
    const jws = `${head}.${Buffer.from(body).toString('base64url')}.${signature}`;
    const keys = createRemoteJWKSet(new URL(`${parley.url}/.well-known/jwks.json`));
    // It is a genuine signature of this very body.
    expect((await compactVerify(jws, keys)).protectedHeader.kid).toBe(known.kid);
    const reply = await receiver.take({ [SIGNATURE]: `${head}..${signature}` }, body);
    expect(reply).toEqual({ status: 401, reason: 'The signature is not one of a notification' });
  });

  it('refuses a notification for another receiver', async () => {
    const reply = await present(elsewhere);
    expect(reply).toEqual({ status: 401, reason: 'The notification is for another receiver' });
  });

  it('refuses another body, another id, and no signature', async () => {
    expect((await present(told, { body: `${told.body} ` })).reason).toBe('signature verification failed');
    expect((await present(told, { id: elsewhere.id })).reason).toBe('The id is another one');
    expect((await present(told, { signature: '' })).reason).toBe('The notification is not signed');
  });

  const now = (): number => Math.floor(Date.now() / 1000);
  it.each<[what: string, change: JsonObject, reason: string]>([
    ['no type', { typ: undefined as never }, 'The signature is not one of a notification'],
    ['the type of a card', { typ: 'JOSE' }, 'The signature is not one of a notification'],
    ['no receiver', { aud: undefined as never }, 'The notification is for another receiver'],
    ['a list of receivers', { aud: ['http://evil.example/'] }, 'The notification is for another receiver'],
    ['no id', { jti: undefined as never }, 'The signature names no notification'],
    ['an empty id', { jti: '' }, 'The signature names no notification'],
    ['an id that is a number', { jti: 7 }, 'The signature names no notification'],
    ['an id that is a list', { jti: ['x'] }, 'The signature names no notification'],
    ['no time', { iat: undefined as never }, 'The signature has no time'],
    ['a time that is a word', { iat: 'soon' }, 'The signature has no time'],
    ['a time that is null', { iat: null }, 'The signature has no time'],
    ['no end', { exp: undefined as never }, 'The signature has no time'],
    ['an end that is text', { exp: '9999999999' }, 'The signature has no time'],
    ['a time that is long ago', { iat: now() - 3_600, exp: now() + 3_600 }, 'The signature is too old'],
    ['a time that is to come', { iat: now() + 3_600, exp: now() + 7_200 }, 'The signature is too old'],
    ['an end that has come', { exp: now() - 1 }, 'The signature is too old'],
  ])('refuses a signature with %s', async (_what, change, reason) => {
    const header = { ...headerOf(told), ...change };
    const id = typeof header['jti'] === 'string' ? header['jti'] : undefined;
    const reply = await receiver.take(
      { [SIGNATURE]: await signed(header, told.body), ...(id !== undefined && { [ID]: id }) },
      told.body,
    );
    expect(reply).toEqual({ status: 401, reason });
  });

  it('would have taken the same header without a change', async () => {
    const signature = await signed(headerOf(told), told.body);
    expect((await present(told, { signature })).status).toBe(204);
  });

  it('refuses no algorithm, and the public key as a shared secret', async () => {
    const content = Buffer.from(told.body).toString('base64url');
    const none = encoded({ ...headerOf(told), alg: 'none' });
    const shared = encoded({ ...headerOf(told), alg: 'HS256' });
    const mac = createHmac('sha256', JSON.stringify(known.publicKey))
      .update(`${shared}.${content}`)
      .digest('base64url');
    for (const signature of [`${none}..`, `${none}..AA`, `${shared}..${mac}`]) {
      expect((await present(told, { signature })).status).toBe(401);
    }
  });
});

describe('receivers and cards from before', () => {
  it('still find in a signature what the first verifier asked for', async () => {
    const content = Buffer.from(told.body).toString('base64url');
    const [head, , signature] = String(told.headers[SIGNATURE]).split('.');
    const keys = createRemoteJWKSet(new URL(`${parley.url}/.well-known/jwks.json`));
    const { protectedHeader } = await compactVerify(`${head}.${content}.${signature}`, keys, { algorithms: ['ES256'] });
    expect(protectedHeader.nid).toBe(told.headers[ID]);
    expect(Math.abs(Date.now() / 1000 - Number(protectedHeader.iat))).toBeLessThan(300);
  });

  it('no signature of a notification is one of a card', async () => {
    const url = `${parley.url}/a2a/.well-known/agent-card.json`;
    const card = (await (await fetch(url)).json()) as JsonObject;
    const verify = cardVerifier(parley.url);
    expect(await verify(card)).toBe(card);
    const { signatures: _, ...content } = card;
    const text = canonicalJson(canonicalAgentCard(AgentCard.fromJSON(content)));
    const [head, , signature] = (await signed(headerOf(told), text)).split('.');
    await expect(verify({ ...card, signatures: [{ protected: head, signature }] })).rejects.toThrow(/No/);
  });
});

describe('after the key was replaced as the guide says', () => {
  it('another one signs, and what the old one signed still verifies', async () => {
    const before = await present(told);
    await database.query('UPDATE signing_key SET signs = false WHERE signs');
    await parley.stop();
    parley = await startParley({ databaseUrl: database.url, env: { PORT: new URL(parley.url).port } });
    const hook = await WebhookReceiver.start();
    const fresh = await notification(hook);
    await hook.stop();
    expect(headerOf(fresh).kid).not.toBe(known.kid);
    const anew = await SampleReceiver.start(parley.url, hook.url);
    try {
      expect((await anew.take(sentHeaders(fresh), fresh.body)).status).toBe(204);
      const old = await signed({ ...headerOf(fresh), kid: known.kid }, fresh.body);
      expect((await anew.take({ ...sentHeaders(fresh), [SIGNATURE]: old }, fresh.body)).status).toBe(204);
    } finally {
      await anew.stop();
    }
    expect([before.status, (await present(told)).status]).toEqual([204, 204]);
  });
});

/** Sends a receiver what was told to another address, or something like it. */
function present(
  { headers, body, id }: ReceivedNotification,
  change: { body?: string; id?: string; signature?: string } = {},
): Promise<{ status: number; reason: string }> {
  const signature = change.signature ?? String(headers[SIGNATURE]);
  return receiver.take({ [SIGNATURE]: signature, [ID]: change.id ?? id }, change.body ?? body);
}

function sentHeaders({ headers, id }: ReceivedNotification): Record<string, string> {
  return { [SIGNATURE]: String(headers[SIGNATURE]), [ID]: id };
}

function headerOf({ headers }: ReceivedNotification): JWSHeaderParameters & { alg: string } {
  const [head = ''] = String(headers[SIGNATURE]).split('.');
  return decodeProtectedHeader({ protected: head }) as JWSHeaderParameters & { alg: string };
}

/** A detached JWS by the service's own key. */
async function signed(header: JWSHeaderParameters & { alg: string }, body: string): Promise<string> {
  const jws = await new CompactSign(Buffer.from(body)).setProtectedHeader(header).sign(known.key);
  const [head, , signature] = jws.split('.');
  return `${head}..${signature}`;
}

function encoded(header: object): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url');
}

/** Keeps a key pair in the open, as it was before private halves were sealed. */
async function keptKey({ query }: TestDatabase): Promise<typeof known> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const shown = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(shown);
  const publicKey = { ...shown, kid, alg: 'ES256', use: 'sig' };
  await query('INSERT INTO signing_key (kid, purpose, public_key, private_key, signs) VALUES ($1, $2, $3, $4, true)', [
    kid,
    'push',
    publicKey,
    await exportJWK(pair.privateKey),
  ]);
  return { kid, key: pair.privateKey, publicKey };
}

/** The first notification of a Task, as its receiver got it. */
async function notification(hook: WebhookReceiver): Promise<ReceivedNotification> {
  await sendTask(await finishing(), 'go', { configuration: { taskPushNotificationConfig: { url: hook.url } } });
  await hook.ended();
  return hook.received[0]!;
}

/** The base URL of an agent that is done at once. */
async function finishing(): Promise<string> {
  const { name } = await new Api(parley.url).save(linear(unique('signed'), script('s', { complete: 'done' })));
  return `${parley.url}/a2a/workflows/${name}/nodes/s`;
}
