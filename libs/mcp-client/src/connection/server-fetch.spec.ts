import type { RequestAuth, RequestSigners } from '#libs/a2a-client';
import { AnswerAccount } from './bounded-body.js';
import { serverFetch } from './http-transport.js';

const BOUNDS = { bytes: 1_000, page: 1_000, members: 100, account: () => new AnswerAccount(() => true) };

test('the secrets of a connection are those of its newest calls', async () => {
  let calls = 0;
  const auth = async (): Promise<RequestAuth> => {
    calls += 1;
    return { origin: 'http://a', headers: {}, query: {}, secrets: [`token ${calls}`, 'constant'] };
  };
  const secrets = new Set<string>();
  const signers = { createProof: auth } as unknown as RequestSigners;
  const wanted = { credential: 'c', tenant: '', agentUrl: 'http://a', endpoint: new URL('http://a') };
  const fetch = serverFetch(async () => Response.json({}), BOUNDS, { signers, wanted, secrets });
  for (let call = 0; call < 1_000; call += 1) await fetch('http://a', { method: 'POST', body: '{}' });
  expect(secrets.size).toBe(128);
  expect([...secrets].slice(-3)).toEqual(['token 999', 'token 1000', 'constant']);
});
