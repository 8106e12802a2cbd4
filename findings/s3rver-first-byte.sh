#!/usr/bin/env bash
# @20minutes/s3rver answers a request for the first byte of an object (Range: bytes=0-0) with the whole object, as 206.
# Exits with 1 if the package behaves differently. Needs npm and Node 24 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact @20minutes/s3rver@5.0.0 > /dev/null
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import S3Server from '@20minutes/s3rver';

const { version } = JSON.parse(readFileSync('node_modules/@20minutes/s3rver/package.json', 'utf8'));
const buckets = { directory: 'buckets', configureBuckets: [{ name: 'bucket' }] };
const server = new S3Server({ address: '127.0.0.1', port: 0, silent: true, ...buckets });
const { port } = await server.run();
const url = `http://127.0.0.1:${port}/bucket/object`;
// Requests with such a header are for the API, not for a web site.
const headers = { 'x-amz-date': new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '') };
await fetch(url, { method: 'PUT', headers, body: '0123456789' });
const read = async (range) => {
  const answer = await fetch(url, { headers: { ...headers, range } });
  return `${answer.status} "${await answer.text()}"`;
};
const [first, second] = [await read('bytes=0-0'), await read('bytes=1-1')];
console.log(`@20minutes/s3rver ${version}`);
console.log('expected: bytes=0-0 gives 206 "0", and bytes=1-1 gives 206 "1"');
console.log(`observed: bytes=0-0 gives ${first}, and bytes=1-1 gives ${second}`);
process.exit(first === '206 "0123456789"' && second === '206 "1"' ? 0 : 1);
END
node try.mjs
