import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { showCard, chatWithAgent } from './agent-talk.js';
import { Session } from './session.js';
import { Terminal } from './terminal.js';

// As a terminal takes it: another title for its window, and, in one character, the beginning of any other command.
const NAME = 'Critic\u001b]0;pwned\u0007\u009b2J';

let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer((_request, response) => {
    const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    const json = { name: NAME, supportedInterfaces, [`no-member${NAME}`]: 1, skills: [{ id: NAME }] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close());

/**
 * Creates a session on a terminal where a person enters `/quit`. @returns the session, and a reader of what the
 * terminal shows
 */
function person(): { session: Session; said: () => string } {
  let said = '';
  const out = { isTTY: true, write: (text: string) => (said += text) };
  const session = new Session(new Terminal({ out, err: out, input: Readable.from(['/quit\n']), env: {} }));
  return { session, said: () => said };
}

it('says who an agent is without what a terminal would act on', async () => {
  const { session, said } = person();
  await chatWithAgent(session, url);
  expect(said()).toBe('Talking with Critic]0;pwned2J. /new starts a new conversation, /quit ends.\n');
});

it('shows a card, and what is wrong with it, without that as well', async () => {
  const { session, said } = person();
  await showCard(session, url);
  expect(said()).toContain('"name": "Critic');
  // oxlint-disable-next-line no-control-regex
  expect(said()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
});
