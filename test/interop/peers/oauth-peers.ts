import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import { sendTask } from '../../support/a2a.js';
import { keepCredential, newSecret } from '../../support/credentials.js';
import { DoorAgent } from '../../support/door-agent.js';
import { openDoor } from '../../support/doors.js';
import { TokenServer } from '../../support/token-server.js';
import { outcomeOf, textIn } from './a2a-called.js';
import { isNamedPeer, type Peer, type PeerBinding, PEER_OPERATIONS, type PeerRow } from './peer-cells.js';
import { peerCell } from './peer-cell-tests.js';
import type { CallOptions, PeerProgram } from './peer-program.js';
import { usePeerStage } from './peer-stage.js';

type CalledOperation = (typeof PEER_OPERATIONS)['oauth']['called'][number];
type CallsOperation = (typeof PEER_OPERATIONS)['oauth']['calls'][number];

/** Agent of a peer that wants a token of a server, and the agent at Parley that calls it with such a token. */
interface TokensCalledAt {
  tokens: TokenServer;
  /** Base URL of the registered agent at Parley. */
  base: string;
  /** Secret with which Parley gets its tokens. */
  secret: string;
}

/** Client of a peer, whose tokens a provider issues that Parley trusts, and the agent behind Parley that it calls. */
interface TokensCallsAt {
  agent: DoorAgent;
  /** Runs an operation of the client. @param env environment besides that of the provider */
  call(operation: string, args: readonly string[], options?: CallOptions): Promise<string[]>;
  /** Environment in which the client gets tokens of the provider. */
  client: Record<string, string>;
}

/** Declares the cells of a peer that Parley calls with tokens of the client credentials grant (RFC 6749, section 4.4). */
export function describeTokensCalled(peer: Peer, binding: PeerBinding, build: () => PeerProgram | string): void {
  if (!isNamedPeer(peer)) return;
  describe(`Parley calls ${peer.title} with tokens`, () => {
    const row: PeerRow = { peer, binding, direction: 'called' };
    const stage = usePeerStage();
    let at: TokensCalledAt | string;

    before(async () => {
      const program = build();
      if (typeof program === 'string') return void (at = program);
      const tokens = await TokenServer.start();
      stage.defer(() => tokens.stop());
      const served = await program.serveAgent(binding, { PEER_TOKENS: tokens.url });
      stage.defer(() => served.stop());
      const secret = newSecret();
      const auth = await keepCredential(stage.api, {
        kind: 'oauth2-client-credentials',
        hosts: [served.url, `http://127.0.0.1:${served.relay.port}`],
        ...{ tokenUrl: tokens.url, clientId: 'parley', clientSecret: secret },
      });
      at = { tokens, secret, base: (await openDoor(stage.parley.url, served.url, { auth })).base };
    });

    for (const operation of PEER_OPERATIONS.oauth.called)
      peerCell(row, operation, { says: '✓', test: CALLED[operation] }, () => at);
  });
}

const CALLED: Readonly<Record<CalledOperation, (at: TokensCalledAt) => Promise<void>>> = {
  async token({ tokens, base }) {
    const answer = await sendTask(base, 'tell');
    assert.equal(textIn(answer), 'one two', JSON.stringify(answer.status));
    assert.equal(tokens.requests[0]?.form['grant_type'], 'client_credentials');
  },
  async renewal({ tokens, base }) {
    await sendTask(base, 'tell');
    const earlier = tokens.issued.length;
    tokens.revoke();
    const answer = await sendTask(base, 'tell');
    assert.equal(textIn(answer), 'one two', JSON.stringify(answer.status));
    assert.ok(tokens.issued.length > earlier, 'Parley got no new token');
  },
  async refusal({ tokens, base, secret }) {
    tokens.revoke();
    const refused = { status: 401, body: JSON.stringify({ error: 'invalid_client' }) };
    tokens.next.push(refused, refused, refused);
    const outcome = await outcomeOf(base, 'tell');
    tokens.next.splice(0);
    assert.match(outcome, /token|credential|invalid_client|401/i);
    assert.doesNotMatch(outcome, /one two/);
    assert.ok(!outcome.includes(secret), outcome);
  },
};

/** Declares the cells of a peer whose client calls Parley with tokens of the client credentials grant. */
export function describeTokensCalls(peer: Peer, binding: PeerBinding, build: () => PeerProgram | string): void {
  if (!isNamedPeer(peer)) return;
  describe(`${peer.title} calls Parley with tokens`, () => {
    const row: PeerRow = { peer, binding, direction: 'calls' };
    const stage = usePeerStage();
    let at: TokensCallsAt | string;

    before(async () => {
      const program = build();
      if (typeof program === 'string') return void (at = program);
      const { parley, issuer } = await stage.withTokens();
      const agent = await DoorAgent.start();
      stage.defer(() => agent.end());
      const admin = await issuer.headers('ann', issuer.client.tenant, 'admin');
      const { base } = await openDoor(parley.url, agent.url, {}, admin);
      const { tokenUrl, id, secret } = issuer.client;
      const client = { PEER_TOKEN_URL: tokenUrl, PEER_CLIENT_ID: id, PEER_CLIENT_SECRET: secret };
      const call: TokensCallsAt['call'] = async (operation, args, options) =>
        (await program.call(['a2a-call', `${base}/`, binding, operation, ...args], options)).lines;
      at = { agent, call, client };
    });

    for (const operation of PEER_OPERATIONS.oauth.calls)
      peerCell(row, operation, { says: '✓', test: CALLS[operation] }, () => at);
  });
}

const CALLS: Readonly<Record<CallsOperation, (at: TokensCallsAt) => Promise<void>>> = {
  async token({ call, client }) {
    assert.match((await call('send', ['fail'], { env: client })).join('\n'), /fail: why/);
  },
  async stream({ call, client, agent }) {
    const lines = await call('stream', ['hold'], {
      env: client,
      onLine: async (line) => {
        if (!line.includes('first ')) return;
        await agent.untilHolding();
        agent.release();
      },
    });
    assert.match(lines.join('\n'), /"last"/);
  },
  async refusal({ call }) {
    const lines = (await call('send', ['fail'])).join('\n');
    assert.match(lines, /error.*(401|unauthenticated|unauthorized|credentials)/i);
    assert.doesNotMatch(lines, /fail: why/);
  },
};
