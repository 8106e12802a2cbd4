#!/usr/bin/env bash
# The client of openai 7.55.0 (npm) obeys "Retry-After: 2", but not "Retry-After: 90": it sends the request again after
# half a second, and once more about a second later. RFC 9110 (section 10.2.3) has the value say how long to wait, and a
# limit per hour or day commonly asks for more than a minute. Both retries are wasted, and count against the limit.
# Exits with 1 if the package behaves differently. Needs npm and Node 22 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact openai@7.55.0 > /dev/null
cat > try.mjs <<'END'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import OpenAI from 'openai';

const { version } = JSON.parse(readFileSync('node_modules/openai/package.json', 'utf8'));

/** Returns the seconds between the requests of one call to an endpoint that is over its limit, and the call's error. */
async function callWith(retryAfter) {
  const times = [];
  const server = createServer((request, response) => {
    times.push(performance.now());
    request.resume();
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': retryAfter });
    response.end('{"error":{"message":"too many requests"}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new OpenAI({ apiKey: 'key', baseURL: `http://127.0.0.1:${server.address().port}/v1` });
  const messages = [{ role: 'user', content: 'hello' }];
  const error = await client.chat.completions.create({ model: 'model', messages }).catch((reason) => reason);
  server.close();
  server.closeAllConnections();
  return { waits: times.slice(1).map((time, index) => (time - times[index]) / 1000), status: error.status };
}

const [short, long] = [await callWith('2'), await callWith('90')];
const shown = ({ waits, status }) => `${waits.map((wait) => wait.toFixed(1)).join(' s, ')} s, then ${status}`;
console.log(`openai ${version}`);
console.log('expected: Retry-After: 2 waits 2 s; Retry-After: 90 waits 90 s, or gives the error without a retry');
console.log(`observed: Retry-After: 2 waits ${shown(short)}; Retry-After: 90 waits ${shown(long)}`);
const isObeyed = short.waits.length === 2 && short.waits.every((wait) => wait > 1.9);
process.exit(isObeyed && long.waits.length === 2 && long.waits.every((wait) => wait < 30) ? 0 : 1);
END
node try.mjs
