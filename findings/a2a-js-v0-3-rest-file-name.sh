#!/usr/bin/env bash
# @a2a-js/sdk 1.3.0 drops the name of a file when its client calls an agent of A2A 0.3 over HTTP+JSON: its schema of 0.3 has
# no `name` in FilePart, though that of the protocol has it (field 4). Over JSON-RPC of 0.3 the name is sent.
# Exits with 1 if the package behaves differently. Needs npm and Node 22 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact @a2a-js/sdk@1.3.0 > /dev/null
cat > try.mjs <<'END'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';

const { version } = JSON.parse(readFileSync('node_modules/@a2a-js/sdk/package.json', 'utf8'));
let body = '';
const server = createServer(async (request, response) => {
  body = (await request.toArray()).join('');
  response.writeHead(500).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

/** Sends a file with a name. Returns the file in the body of the request. */
async function sendFile(factory, binding) {
  const agentInterface = { url, protocolBinding: binding, protocolVersion: '0.3', tenant: '' };
  const card = { name: 'a', supportedInterfaces: [agentInterface], capabilities: {} };
  const transport = await factory.create(url, card);
  const content = { $case: 'raw', value: Buffer.from('tea') };
  const parts = [{ content, mediaType: 'text/plain', filename: 'tea.txt' }];
  const message = { messageId: 'm', role: 1, parts, taskId: '', contextId: '', extensions: [], referenceTaskIds: [] };
  await transport.sendMessage({ message, tenant: '' }).catch(() => undefined);
  const { params, request, message: direct } = JSON.parse(body);
  const said = params?.message ?? request ?? direct;
  return (said.parts ?? said.content)[0].file;
}

const options = { legacyCompat: { enabled: true } };
const rpc = await sendFile(new JsonRpcTransportFactory(options), 'JSONRPC');
const rest = await sendFile(new RestTransportFactory(options), 'HTTP+JSON');
server.close();
console.log(`@a2a-js/sdk ${version}`);
console.log('expected: the file has its name over both bindings');
console.log(`observed: JSON-RPC sends ${JSON.stringify(rpc)}; HTTP+JSON sends ${JSON.stringify(rest)}`);
process.exit(rpc.name === 'tea.txt' && rest.name === undefined ? 0 : 1);
END
timeout 60 node try.mjs
