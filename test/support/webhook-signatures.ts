import { createHmac, randomBytes } from 'node:crypto';
import { unique } from './workflow.js';

/** Returns a secret that all schemes can sign with. */
export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;

/** Returns the current time in seconds of the epoch, with an offset. */
export const seconds = (offset = 0): string => String(Math.floor(Date.now() / 1_000) + offset);

/** Function that returns the headers with which a sender signs a body. */
export type HeadersOf = (body: string, secret: string, time?: string) => Record<string, string>;

const hmac = (text: string, key: string | Buffer, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', key).update(text).digest(encoding);

/** Headers with which the senders of each scheme sign a body. */
export const SIGNED: Readonly<Record<string, HeadersOf>> = {
  github: (body, secret) => ({
    'x-github-event': 'push',
    'x-github-delivery': unique('guid'),
    'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
  }),
  stripe: (body, secret, time = seconds()) => ({
    'stripe-signature': `t=${time},v1=${hmac(`${time}.${body}`, secret)}`,
  }),
  slack: (body, secret, time = seconds()) => ({
    'x-slack-request-timestamp': time,
    'x-slack-signature': `v0=${hmac(`v0:${time}:${body}`, secret)}`,
  }),
  'standard-webhooks': (body, secret, time = seconds()) => {
    const id = unique('msg');
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return {
      ...{ 'webhook-id': id, 'webhook-timestamp': time },
      'webhook-signature': `v1,${hmac(`${id}.${time}.${body}`, key, 'base64')}`,
    };
  },
  hmac: (body, secret) => ({ 'x-signature': hmac(body, secret, 'base64') }),
  bearer: (_body, secret) => ({ authorization: `Bearer ${secret}` }),
};
