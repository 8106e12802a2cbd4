import type { SeededRandom } from '../../support/seeded-random.js';
import { oddText } from './odd-values.js';

/** Head of an HTTP request. Header names may be repeated. */
export interface Head {
  method: string;
  target: string;
  headers: [name: string, value: string][];
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const CONTENT_TYPES = [
  'application/json',
  'application/a2a+json',
  'application/json; charset=utf-16',
  'application/json; charset=nope',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/json, text/plain',
  'application/json; charset="utf-8"; x=y',
  'application/JSON',
  'application/x-ndjson',
  'application/merge-patch+json',
  'application/grpc',
  'text/plain; a=application/json',
  'application',
  '/',
  ';',
  '',
];
const QUERIES = [
  'since=1',
  'since=-1',
  'since=99999999999999999999',
  'pageSize=0',
  'pageSize=101&pageSize=2',
  'pageToken=AAAA',
  'pageToken=%ff%fe',
  'status=TASK_STATE_WORKING',
  'historyLength=-1',
  'historyLength=1e9',
  'includeArtifacts=maybe',
  'streams=task,nope',
  'taskId=',
  '__proto__[x]=1',
  'constructor.prototype=1',
  'a[0]=1&a[1]=2',
  '%',
  '&&&===',
  'q=%00',
];
const ODD_HEADERS: [string, string][] = [
  ['a2a-version', '0.3'],
  ['a2a-version', '1.0'],
  ['a2a-version', '9.9'],
  ['a2a-version', '1.0.1, 0.3'],
  ['a2a-version', ''],
  ['a2a-extensions', 'https://example.com/x, ,,'],
  ['last-event-id', '1'],
  ['last-event-id', '-1'],
  ['last-event-id', 'x'],
  ['idempotency-key', 'k'],
  ['idempotency-key', 'x'.repeat(300)],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'br, nope'],
  ['accept', 'text/event-stream'],
  ['accept', '*/*;q=nope'],
  ['accept-encoding', 'gzip;q=0, *'],
  ['expect', '100-continue'],
  ['expect', 'nothing'],
  ['x-forwarded-for', '1.2.3.4, nope'],
  ['x-forwarded-host', 'evil.example'],
  ['x-forwarded-proto', 'gopher'],
  ['forwarded', 'for="[::1'],
  ['if-none-match', '*'],
  ['if-modified-since', 'never'],
  ['range', 'bytes=0-1,5-'],
  ['origin', 'null'],
  ['origin', ''],
  ['origin', 'http://evil.example'],
  ['origin', 'https://127.0.0.1'],
  ['origin', 'http://127.0.0.1:1'],
  ['origin', 'http://localhost, http://evil.example'],
  ['origin', 'file://'],
  ['origin', 'chrome-extension://abcdefghijklmnop'],
  ['origin', 'http://[::1'],
  ['referer', 'http://evil.example/page'],
  ['referer', '%%%'],
  ['sec-fetch-site', 'cross-site'],
  ['sec-fetch-site', 'same-site'],
  ['sec-fetch-site', 'same-origin'],
  ['sec-fetch-site', 'none, cross-site'],
  ['sec-fetch-mode', 'no-cors'],
  ['sec-fetch-mode', 'navigate'],
  ['sec-fetch-dest', 'image'],
  ['sec-fetch-user', '?1'],
  ['host', 'evil.example'],
  ['host', 'localhost'],
  ['host', '127.0.0.1.'],
  ['host', '127.0.0.1:99999'],
  ['host', '1.2.3.4.5'],
  ['host', '[::1]'],
  ['host', '[::1'],
  ['host', '[fe80::1%25eth0]:1'],
  ['host', 'a b'],
  ['host', 'user@127.0.0.1'],
  ['host', 'xn--'],
  ['host', `${'a'.repeat(300)}.example`],
  ['x-http-method-override', 'DELETE'],
  ['x-original-url', '/health/live'],
  ['if-match', '"1"'],
  ['if-match', 'W/"nope", *'],
  ['authorization', 'Bearer a.b.c'],
  ['authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
  ['authorization', 'Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.e30.AAAA'],
  ['sec-websocket-protocol', 'parley.events, parley.ticket.e30.AA'],
  ['sec-websocket-version', '7'],
  ['upgrade', 'h2c'],
  ['authorization', 'Basic Og=='],
  ['authorization', 'Bearer'],
  ['authorization', 'Parley-Node x.y'],
  ['x-api-key', 'nobodys-key-at-all'],
  ['cookie', 'a=b; '.repeat(200)],
];

/** Returns a head with one unusual part that is still valid HTTP. */
export function oddHead(head: Head, random: SeededRandom): Head {
  switch (random.between(0, 6)) {
    case 0:
      return { ...head, method: random.pick(METHODS) };
    case 1:
      return { ...head, target: oddTarget(head.target, random) };
    case 2:
      return { ...head, target: `${head.target}${head.target.includes('?') ? '&' : '?'}${random.pick(QUERIES)}` };
    case 3:
      return replaced(head, 'content-type', random.pick(CONTENT_TYPES));
    case 4:
      return { ...head, headers: head.headers.filter(() => random.between(0, 2) > 0) };
    default: {
      const [name, value] = random.pick(ODD_HEADERS);
      return replaced(head, name, value);
    }
  }
}

function oddTarget(target: string, random: SeededRandom): string {
  const segments = target.split('/');
  const index = random.between(1, segments.length - 1);
  const odd = encodeURI(oddText(random).slice(0, 700).toWellFormed());
  segments[index] = random.pick([odd, '', '%', '%ff', '..', `${segments[index]}/`, `${segments[index]}%00`, '*', ':x']);
  // A blank would end the target, and the request line with it.
  return [...segments.join('/')].filter((it) => it > ' ').join('');
}

function replaced(head: Head, name: string, value: string): Head {
  const others = head.headers.filter(([other]) => other !== name);
  return { ...head, headers: [...others, [name, value]] };
}

const BROKEN_LINES = [
  'content-length: -1',
  'content-length: 5\r\ncontent-length: 6',
  'content-length: 0x10',
  'transfer-encoding: chunked\r\ncontent-length: 3',
  'transfer-encoding: nope, chunked',
  'no colon here',
  ': no name',
  'na me: x',
  'x: \u0001',
  ` folded: x\r\n y`,
  `x-long: ${'y'.repeat(40_000)}`,
  Array.from({ length: 3000 }, (_, index) => `x-${index}: y`).join('\r\n'),
  'host: a\r\nhost: b',
];

/** Returns a header line that makes the head invalid. */
export function brokenLine(random: SeededRandom): string {
  return random.pick(BROKEN_LINES);
}
