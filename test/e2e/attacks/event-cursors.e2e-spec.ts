import { GatewayClient, refusedUpgrade } from '../../support/gateway-client.js';
import { useStage } from '../../support/stage.js';

const stage = useStage();

const now = Date.now().toString(36);

describe('a cursor that nobody gave out', () => {
  it.each([
    'abc',
    '1',
    'zzzzzzzzzzz',
    (Date.now() + 3 * 24 * 60 * 60 * 1000).toString(36),
    '-1',
    'NaN',
    '~aaa.zzzzzzzzzzzzz',
    `${now}~aaa.zzzzzzzzzzzzz`,
    `${now}~aaa.${(2n ** 63n).toString(36)}`,
    `${now}~aaa.1~aaa.2`,
    `${now}~aaa.01`,
    `0${now}`,
    `${now}~aaa.1.9999999999`,
    `${now}|aaa.1`,
    `${now}~a a.1`,
    `${now}~é.1`,
    `${now}~a.1\0`,
    `${now}${'~a.1'.repeat(2_000)}`,
  ])('is refused before a stream begins: %j', async (since) => {
    const { url } = stage.parley;
    const query = new URLSearchParams({ since }).toString();
    const reply = await fetch(`${url}/api/events?${query}`);
    expect([reply.status, await reply.json()]).toEqual([400, expect.objectContaining({ errors: [NOT_A_CURSOR] })]);
    const upgrade = await refusedUpgrade(`${url}/events?${query}`);
    expect([upgrade.status, upgrade.body]).toEqual([400, expect.stringContaining('since')]);
    // eslint-disable-next-line no-control-regex -- what a header may carry
    if (!/^[\x20-\x7e]*$/.test(since)) return;
    const resumed = await fetch(`${url}/api/events`, { headers: { 'last-event-id': since } });
    expect([resumed.status, await resumed.json()]).toEqual([400, expect.objectContaining({ errors: [NOT_A_CURSOR] })]);
  });

  it('leaves no error in the log', () => {
    expect(stage.parley.logs()).toBe(stage.parley.stdout().split('\n')[0] + '\n');
  });
});

it('a cursor that was good once is gone', async () => {
  const since = (Date.now() - 3 * 24 * 60 * 60 * 1000).toString(36);
  const reply = await fetch(`${stage.parley.url}/api/events?since=${since}`);
  expect([reply.status, await reply.text()]).toEqual([410, expect.stringContaining('too old')]);
});

it('the last position that there is may be named, and leads to a stream', async () => {
  const client = await GatewayClient.open(stage.parley.url, { since: `${now}~aaa.${(2n ** 63n - 1n).toString(36)}` });
  expect(client.frames[0]).toMatchObject({ type: 'hello' });
  await client.cut();
});

/** A NUL is refused in any query, before anybody looks whether it is a cursor. */
const NOT_A_CURSOR = {
  path: 'since',
  detail: expect.stringMatching(/is not a cursor of this service|must not contain a NUL/),
};
