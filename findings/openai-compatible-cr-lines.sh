#!/usr/bin/env bash
# @ai-sdk/openai-compatible loses the last event of a stream whose lines end with CR alone, which server-sent events allow.
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
const body = `${event({ delta: { content: 'hello' } })}${event({ delta: {}, finish_reason: 'stop' })}`;
async function reasonOf(text) {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const model = createOpenAICompatible({ name: 'x', baseURL: 'http://127.0.0.1/v1', fetch }).chatModel('m');
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] });
  return (await Array.fromAsync(stream)).find(({ type }) => type === 'finish')?.finishReason.unified;
}
const [lf, cr] = [await reasonOf(body), await reasonOf(body.replaceAll('\n', '\r'))];
console.log(`@ai-sdk/openai-compatible ${version}`);
console.log('expected: the answer ends with "stop" whichever line ends its stream has');
console.log(`observed: LF "${lf}", CR "${cr}"`);
process.exit(lf === 'stop' && cr !== 'stop' ? 0 : 1);
END
node try.mjs
