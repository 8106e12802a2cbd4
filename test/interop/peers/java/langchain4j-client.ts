import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallsAt } from '../a2a-calls.js';
import type { PeerGap } from '../peer-cells.js';

/**
 * Cells of LangChain4j as client. It reads the card at the root of the host, so these tests put a host in front of the
 * agent, as docs/INTEROP.md recommends.
 */
export const LANGCHAIN4J_CLIENT = {
  send: { says: '✓ by a host of its own (see "The card at the root of a host")', test: hearsAnswer },
  stream: { says: '– it does not stream' },
  ask: {
    says: '– it returns an empty text for a question (findings/langchain4j-empty-answers.sh)',
    test: hearsNothing,
  },
  'follow-up': { says: '– it names no context; each call begins a new one', test: beginsContexts },
  cancel: { says: '– it has no such call' },
  resubscribe: { says: '– it has no such call' },
  push: { says: '– it has no such call' },
  parts: { says: '– it sends texts only' },
  errors: {
    says: '– it returns an empty text for a failure (findings/langchain4j-empty-answers.sh)',
    test: losesFailure,
  },
  key: { says: '– it has no option for headers' },
} as const satisfies Record<string, PeerGap<CallsAt>>;

async function hearsAnswer(at: CallsAt): Promise<void> {
  assert.match(await printedAt(at, 'tea'), /tea/);
}

async function hearsNothing(at: CallsAt): Promise<void> {
  const earlier = at.agent.heard.length;
  assert.equal(await printedAt(at, 'ask'), '""');
  assert.equal(at.agent.heard.length, earlier + 1);
}

async function losesFailure(at: CallsAt): Promise<void> {
  const earlier = at.agent.heard.length;
  assert.equal(await printedAt(at, 'fail'), '""');
  assert.equal(at.agent.heard.length, earlier + 1);
}

async function beginsContexts(at: CallsAt): Promise<void> {
  const earlier = at.agent.heard.length;
  await printedAt(at, 'tea', 'milk');
  const [first, next] = at.agent.heard.slice(earlier).map(({ contextId }) => contextId);
  assert.notEqual(next, first);
}

/** Runs the client at a host whose root has the card of the agent. @returns the printed lines */
async function printedAt({ base, callAt }: CallsAt, ...texts: string[]): Promise<string> {
  const host = createServer((request, response) => {
    void fetch(new URL(request.url?.slice(1) ?? '', base)).then(async (card) => {
      response.writeHead(card.status, { 'Content-Type': 'application/json' });
      response.end(await card.text());
    });
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  try {
    const { port } = host.address() as AddressInfo;
    return (await callAt(`http://127.0.0.1:${port}`, 'send', texts)).join('\n');
  } finally {
    host.close();
    host.closeAllConnections();
  }
}
