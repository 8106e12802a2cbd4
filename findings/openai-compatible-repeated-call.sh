#!/usr/bin/env bash
# @ai-sdk/openai-compatible makes two calls of a tool call that an endpoint streams twice: the second gets an id of its own.
# Exits with 1 if the package behaves differently. Needs npm and Node 22 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact @ai-sdk/openai-compatible@3.0.92 > /dev/null
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

const { version } = JSON.parse(readFileSync('node_modules/@ai-sdk/openai-compatible/package.json', 'utf8'));
const event = (choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
const piece = event({ delta: { tool_calls: [call] } });
const body = `${piece}${piece}${event({ delta: {}, finish_reason: 'tool_calls' })}data: [DONE]\n\n`;
const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
const model = createOpenAICompatible({ name: 'x', baseURL: 'http://127.0.0.1/v1', fetch }).chatModel('m');
const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] });
const calls = (await Array.fromAsync(stream)).filter(({ type }) => type === 'tool-call');
console.log(`@ai-sdk/openai-compatible ${version}`);
console.log('expected: one call of the tool, call_1');
console.log(`observed: ${calls.map(({ toolCallId, input }) => `${toolCallId} ${input}`).join(', ')}`);
process.exit(calls.length === 2 && calls[0].toolCallId !== calls[1].toolCallId ? 0 : 1);
END
node try.mjs
