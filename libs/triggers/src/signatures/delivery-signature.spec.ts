import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSigned } from './delivery-signature.js';
import type { WebhookSource } from './webhook-source.js';

const SECRETS = ['name-of-a-credential'];

/** Delivery of a scheme, with the secret and the time for which its signature is right. */
interface Vector {
  source: WebhookSource;
  secret: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Seconds since 1970; absent if the scheme signs no time. */
  time?: number;
}

/** Examples that the authors of the schemes publish. */
const PUBLISHED: Readonly<Record<string, Vector>> = {
  // docs.github.com, "Validating webhook deliveries"
  github: {
    source: { scheme: 'github', secrets: SECRETS },
    secret: "It's a Secret to Everybody",
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    body: 'Hello, World!',
  },
  // api.slack.com, "Verifying requests from Slack"
  slack: {
    source: { scheme: 'slack', secrets: SECRETS },
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body:
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
      '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
      '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    time: 1_531_420_618,
  },
  // The test suite of the libraries of Standard Webhooks.
  'standard-webhooks': {
    source: { scheme: 'standard-webhooks', secrets: SECRETS },
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    time: 1_614_265_330,
  },
  // RFC 4231, test case 2
  hmac: {
    source: { scheme: 'hmac', secrets: SECRETS, header: 'X-Signature', prefix: 'hmac-' },
    secret: 'Jefe',
    headers: { 'x-signature': 'hmac-5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843' },
    body: 'what do ya want for nothing?',
  },
  // stripe.com, "Verify webhook signatures manually": the signature is made as described there.
  stripe: {
    source: { scheme: 'stripe', secrets: SECRETS },
    secret: 'whsec_test_secret',
    headers: {
      'stripe-signature': `t=1492774577,v1=${createHmac('sha256', 'whsec_test_secret').update('1492774577.{"id":"evt_1"}').digest('hex')},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
    },
    body: '{"id":"evt_1"}',
    time: 1_492_774_577,
  },
  bearer: {
    source: { scheme: 'bearer', secrets: SECRETS },
    secret: 'a-long-token',
    headers: { authorization: 'Bearer a-long-token' },
    body: '{}',
  },
};

const [ONE_SECOND, TOLERANCE] = [1_000, 300];
const NOW = 1_700_000_000;

function isRight(
  { source, secret, headers, body, time }: Vector,
  changes: { after?: number; secrets?: string[] } = {},
) {
  const at = ((time ?? NOW) + (changes.after ?? 0)) * ONE_SECOND;
  return isSigned(source, changes.secrets ?? [secret], { headers, body: Buffer.from(body) }, at);
}

const proofOf = (vector: Vector): string => Object.keys(vector.headers).find((it) => /sig|auth/.test(it))!;

describe.each(Object.entries(PUBLISHED))('The scheme %s', (scheme, vector) => {
  it('accepts the published example, also as the second of two secrets', () => {
    expect(isRight(vector)).toBe(true);
    expect(isRight(vector, { secrets: ['the-next-one', vector.secret] })).toBe(true);
  });

  it('refuses another secret, no secret, and a delivery without a signature', () => {
    expect(isRight(vector, { secrets: ['another', 'and-another'] })).toBe(false);
    expect(isRight(vector, { secrets: [] })).toBe(false);
    expect(isRight({ ...vector, headers: {} })).toBe(false);
    expect(isRight({ ...vector, headers: { ...vector.headers, [proofOf(vector)]: '' } })).toBe(false);
  });

  it('refuses a signature of which any character is changed', () => {
    const proof = String(vector.headers[proofOf(vector)]);
    const last = scheme === 'stripe' ? proof.indexOf(',v0') - 1 : proof.length - 2;
    const forged = `${proof.slice(0, last)}${proof[last] === 'a' ? 'b' : 'a'}${proof.slice(last + 1)}`;
    expect(isRight({ ...vector, headers: { ...vector.headers, [proofOf(vector)]: forged } })).toBe(false);
  });

  it('refuses another body, unless the secret alone proves the sender', () => {
    expect(isRight({ ...vector, body: `${vector.body} ` })).toBe(scheme === 'bearer');
  });

  it('refuses a time that is more than five minutes away, if it signs one', () => {
    const isTimed = vector.time !== undefined;
    expect(isRight(vector, { after: TOLERANCE })).toBe(true);
    expect(isRight(vector, { after: -TOLERANCE })).toBe(true);
    expect(isRight(vector, { after: TOLERANCE + 1 })).toBe(!isTimed);
    expect(isRight(vector, { after: -TOLERANCE - 1 })).toBe(!isTimed);
  });
});

describe('A signature', () => {
  const { github, stripe, hmac, bearer, 'standard-webhooks': standard } = PUBLISHED as Record<string, Vector>;

  it('is one of several that a sender with two secrets sends', () => {
    const signature = String(standard!.headers['webhook-signature']);
    const several = { ...standard!.headers, 'webhook-signature': `v1a,x v1,AAAA ${signature}` };
    expect(isRight({ ...standard!, headers: several })).toBe(true);
    const [time, right] = String(stripe!.headers['stripe-signature']).split(',');
    expect(isRight({ ...stripe!, headers: { 'stripe-signature': `${time},v1=00,${right}` } })).toBe(true);
  });

  it('in hexadecimal digits may be of either case', () => {
    const upper = String(github!.headers['x-hub-signature-256']).replace(/=.*/, (it) => it.toUpperCase());
    expect(isRight({ ...github!, headers: { 'x-hub-signature-256': upper } })).toBe(true);
  });

  it('of an HMAC has the algorithm and the encoding of the trigger', () => {
    const sent = createHmac('sha512', hmac!.secret).update(hmac!.body).digest('base64');
    const source: WebhookSource = { ...hmac!.source, algorithm: 'sha512', encoding: 'base64', prefix: '' };
    expect(isRight({ ...hmac!, source, headers: { 'x-signature': sent } })).toBe(true);
    expect(isRight({ ...hmac!, headers: { 'x-signature': sent } })).toBe(false);
  });

  it('is a token in the header that the trigger names', () => {
    const source: WebhookSource = { ...bearer!.source, header: 'X-Gitlab-Token' };
    expect(isRight({ ...bearer!, source, headers: { 'x-gitlab-token': bearer!.secret } })).toBe(true);
    expect(isRight({ ...bearer!, source })).toBe(false);
    expect(isRight({ ...bearer!, headers: { authorization: bearer!.secret } })).toBe(false);
  });

  it('is nothing that a malformed header says', () => {
    const { headers } = standard!;
    expect(isRight({ ...standard!, headers: { ...headers, 'webhook-timestamp': '1614265330 ' } })).toBe(false);
    expect(isRight({ ...standard!, headers: { ...headers, 'webhook-id': undefined } })).toBe(false);
    expect(isRight({ ...stripe!, headers: { 'stripe-signature': 'v1=,t=' } })).toBe(false);
    expect(isRight({ ...github!, headers: { 'x-hub-signature-256': 'x'.repeat(100_000) } })).toBe(false);
  });
});
