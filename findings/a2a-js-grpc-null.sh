#!/usr/bin/env bash
# The gRPC client of @a2a-js/sdk 0.3.14 cannot send data that contains null, which JSON and google.protobuf.Struct allow.
# Exits with 1 if the package behaves differently. Needs npm and Node 20 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact \
  @a2a-js/sdk@0.3.14 @grpc/grpc-js@1.14.7 @bufbuild/protobuf@2.17.0 > /dev/null
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { A2AService, UserBuilder, grpcService } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';

const { version } = JSON.parse(readFileSync('node_modules/@a2a-js/sdk/package.json', 'utf8'));
const executor = {
  async execute({ userMessage }, bus) {
    bus.publish({ kind: 'message', messageId: 'answer', role: 'agent', parts: userMessage.parts });
    bus.finished();
  },
  async cancelTask() {},
};
const card = {
  name: 'echo', description: 'Returns what it gets', version: '1.0.0', protocolVersion: '0.3.0',
  url: '127.0.0.1', preferredTransport: 'GRPC', capabilities: {},
  defaultInputModes: ['application/json'], defaultOutputModes: ['application/json'],
  skills: [{ id: 'echo', name: 'echo', description: 'Returns what it gets', tags: ['echo'] }],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const server = new Server();
server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
const transport = await new GrpcTransportFactory().create(`127.0.0.1:${port}`, card);
async function echoOf(data) {
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'data', data }] };
  const sent = transport.sendMessage({ message });
  return sent.then(({ parts: [part] }) => JSON.stringify(part.data), (error) => error.message);
}
const [text, nothing] = [await echoOf({ answer: 'yes' }), await echoOf({ answer: null })];
server.forceShutdown();
console.log(`@a2a-js/sdk ${version}`);
console.log('expected: {"answer":"yes"} and {"answer":null} come back as they were sent');
console.log(`observed: ${text} and "${nothing}"`);
process.exit(text === '{"answer":"yes"}' && nothing.includes('serialization failure') ? 0 : 1);
END
node try.mjs
