import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OutboundHttp } from '#libs/http-client';
import { loadConfig } from '#libs/service';
import type { ModelProvider } from '../model-definition.js';
import { KeySigner } from './model-signer.js';
import { ProviderModel } from './provider-model.js';

const PROVIDERS: ModelProvider[] = ['openai-compatible', 'openai', 'anthropic', 'google'];
const JSON_MEMBERS = 1_000;
const MANY = JSON.stringify(Array<number>(JSON_MEMBERS + 1).fill(0));
const DEEP = `${'['.repeat(501)}${']'.repeat(501)}`;
const SSE = { 'content-type': 'text/event-stream' };

describe('an answer of a model', () => {
  const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
  let server: Server;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => answer(response));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    await outbound.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  /** Calls a model that fails, and returns the message of the failure. */
  async function failureOf(provider: ModelProvider): Promise<string> {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const wire = { http: outbound.fetch, files: outbound.fetch, signer: new KeySigner('k') };
    const options = { name: 'm', model: 'm', provider, baseUrl, input: [], jsonMembers: JSON_MEMBERS };
    const call = {
      messages: [{ role: 'user' as const, parts: [{ text: 'hi' }] }],
      signal: new AbortController().signal,
    };
    try {
      await Array.fromAsync(new ProviderModel({ ...options, ...wire }).streamAnswer(call));
    } catch (error) {
      return (error as Error).message.replace('model "m" gave no answer: ', '');
    }
    throw new Error('The call did not fail');
  }

  describe.each(PROVIDERS)('of %s', (provider) => {
    it('is its status alone where it is an error beyond 64 KiB', async () => {
      answer = (response) => void response.writeHead(400).end(refusal('x'.repeat(64 * 1024)));
      expect(await failureOf(provider)).toBe('HTTP 400');
    });

    it('is its status alone where it is an error with more members than JSON may have', async () => {
      answer = (response) => void response.writeHead(400).end(`{"more":${MANY},${refusal('no room').slice(1)}`);
      expect(await failureOf(provider)).toBe('HTTP 400');
    });

    it('says why it is an error where it is short', async () => {
      answer = (response) => void response.writeHead(400).end(refusal('no room'));
      expect(await failureOf(provider)).toBe('HTTP 400: no room');
    });

    it.each([SSE, { 'content-type': 'text/plain' }])(
      'fails where an event has too many members, as %j',
      async (head) => {
        answer = (response) => void response.writeHead(200, head).end(`data: ${MANY}\n\n`);
        expect(await failureOf(provider)).toBe(
          'the answer has more than 1000 members and elements (JSON_MEMBERS_LIMIT)',
        );
      },
    );

    it('fails where an event has too many levels', async () => {
      answer = (response) => void response.writeHead(200, SSE).end(`data: ${DEEP}\n\n`);
      expect(await failureOf(provider)).toMatch(/^the answer: .*500 levels/);
    });
  });

  it('fails where it is whole and has too many members', async () => {
    answer = (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(MANY);
    expect(await failureOf('openai-compatible')).toMatch(/^the answer has more than 1000 members/);
  });

  it('is its status alone where it is an error that does not end', async () => {
    answer = (response) => void response.writeHead(400).write('{');
    const failures = await Promise.all(PROVIDERS.map(failureOf));
    expect(failures).toEqual(PROVIDERS.map(() => 'HTTP 400'));
  });
});

/** Returns the body of an error response that fits the format of every provider. */
function refusal(message: string): string {
  return JSON.stringify({
    type: 'error',
    error: { type: 'invalid', code: 400, status: 'INVALID_ARGUMENT', message },
  });
}
