#!/usr/bin/env bash
# The client of @a2a-js/sdk 0.3.14 does not cancel the response of a stream that its caller leaves, as with a break
# after the final event. If the agent keeps the response open, the connection stays open, and the agent does not learn
# that its caller has left. Leaving the body of fetch closes the connection, as does leaving a stream of @a2a-js/sdk
# 1.3.0.
# Exits with 1 if the package behaves differently. Needs npm and Node 22 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact \
  @a2a-js/sdk@0.3.14 next@npm:@a2a-js/sdk@1.3.0 > /dev/null
cat > try.mjs <<'END'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { JsonRpcTransport } from '@a2a-js/sdk/client';
import { JsonRpcTransportFactory } from 'next/client';

const { version } = JSON.parse(readFileSync('node_modules/@a2a-js/sdk/package.json', 'utf8'));
const responses = [];
/** Agent that completes each Task at once, and keeps the response open after that. */
const server = createServer(async (request, response) => {
  responses.push(response);
  const { id, method } = JSON.parse((await request.toArray()).join(''));
  const ids = { taskId: 'task', contextId: 'context' };
  const result = method === 'message/stream'
    ? { kind: 'status-update', ...ids, status: { state: 'completed' }, final: true }
    : { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;

/** Reads the first event of a stream and leaves the stream. Returns the agent's response. */
async function leave(stream) {
  for await (const event of stream) break;
  return responses.at(-1);
}

/** Waits until the agent sees that its caller has left. */
async function seeEnd(response) {
  if (!response.closed) await once(response, 'close');
}

const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
const left = await leave(new JsonRpcTransport({ endpoint: url }).sendMessageStream({ message }));
const card = { supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }] };
const next = await new JsonRpcTransportFactory().create(url, card);
const parts = [{ content: { $case: 'text', value: 'hello' }, filename: '', mediaType: '' }];
const request = { message: { messageId: 'm', role: 1, parts, extensions: [], referenceTaskIds: [] }, tenant: '' };
await seeEnd(await leave(next.sendMessageStream(request)));
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } });
await seeEnd(await leave((await fetch(url, { method: 'POST', body })).body));
console.log(`@a2a-js/sdk ${version} on Node ${process.version}`);
console.log('expected: the agent sees the end of the connection, as from a stream of 1.3.0 and from the body of fetch');
const isOpen = !left.closed && left.writable;
console.log(`observed: the connection is ${isOpen ? 'still open' : 'closed'} when both others have ended`);
server.closeAllConnections();
server.close();
process.exit(isOpen ? 0 : 1);
END
timeout 60 node try.mjs
