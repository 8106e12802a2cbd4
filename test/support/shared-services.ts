import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Parley, startParley } from './parley.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import type { Lent, SharedOptions, TakenBack } from './shared-stage.js';
import { SAFETY_NET_MS } from './until.js';

// Lends services to test files, each to one at a time, until standard input closes. The first line it prints is its URL:
// `POST /` with SharedOptions lends one, `GET /<lease>` gives what it wrote since then, and `DELETE /<lease>` gives it back
// (see shared-stage.ts).

interface Service {
  /** Options of the service as JSON, as the request named them. */
  options: string;
  parley: Parley;
  database: TestDatabase;
}

interface Loan extends Service {
  /** Length of the service's output when it was lent. */
  from: number;
}

const READY_WITHIN_MS = SAFETY_NET_MS;

let idle: Service[] = [];
const loans = new Map<string, Loan>();

const server = createServer((request, response) => void serve(request, response));
// A worker that stood still for long finds no connection that was closed meanwhile.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
process.stdin.on('error', () => undefined).once('close', () => void end());
process.stdin.resume();
process.on('SIGINT', () => undefined);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Between two files a connection that is kept is closed as the next request comes.
  response.setHeader('connection', 'close');
  try {
    response.end(JSON.stringify(await answer(request)));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

async function answer(request: IncomingMessage): Promise<Lent | TakenBack | string> {
  const lease = (request.url ?? '').slice(1);
  if (request.method === 'POST') return lend(await text(request));
  return request.method === 'GET' ? writtenBy(loanOf(lease)) : takeBack(lease);
}

async function lend(options: string): Promise<Lent> {
  const lease = randomUUID();
  const service = (await wellOne(options)) ?? (await started(options));
  const { parley, database } = service;
  loans.set(lease, { ...service, from: parley.logs().length });
  return { lease, url: parley.url, pid: parley.pid, databaseUrl: database.url };
}

/** Takes a service back. @returns what it wrote while it was lent, and the reason if it may not be lent again */
async function takeBack(lease: string): Promise<TakenBack> {
  const loan = loanOf(lease);
  loans.delete(lease);
  const unwell = await ailmentOf(loan);
  const written = writtenBy(loan);
  if (unwell === undefined) keep(loan);
  else await strike(loan);
  return { written, ...(unwell !== undefined && { unwell }) };
}

function loanOf(lease: string): Loan {
  const loan = loans.get(lease);
  if (loan === undefined) throw new Error(`Nothing is lent as ${lease}`);
  return loan;
}

function writtenBy({ parley, from }: Loan): string {
  return parley.logs().slice(from);
}

/** Keeps an idle service suspended: twenty idle services with their databases would take a fifth of a processor. */
function keep(service: Service): void {
  service.parley.freeze();
  idle.push(service);
}

/** Returns an idle service that is still healthy; ends those that are not. */
async function wellOne(options: string): Promise<Service | undefined> {
  for (let service = idleOne(options); service !== undefined; service = idleOne(options)) {
    service.parley.thaw();
    if ((await ailmentOf(service)) === undefined) return service;
    await strike(service);
  }
  return undefined;
}

function idleOne(options: string): Service | undefined {
  const found = idle.findLast((it) => it.options === options);
  idle = idle.filter((it) => it !== found);
  return found;
}

/**
 * Returns the reason why a service is unhealthy; `undefined` if it is healthy. A service that answers is checked again:
 * each readiness check has two seconds, which is little on a busy machine.
 */
async function ailmentOf({ parley }: Service): Promise<string | undefined> {
  const begun = performance.now();
  for (;;) {
    if (!parley.running()) return 'The service has ended';
    try {
      const { status } = await fetch(`${parley.url}/health/ready`, { signal: AbortSignal.timeout(SAFETY_NET_MS) });
      if (status === 200) return undefined;
      if (performance.now() - begun > READY_WITHIN_MS) return `The service is not ready: ${status}`;
    } catch (error) {
      return `The service does not answer: ${String(error)}`;
    }
    await delay(100);
  }
}

async function started(options: string): Promise<Service> {
  const { env = {} } = JSON.parse(options) as SharedOptions;
  const database = await freshDatabase();
  return { options, database, parley: await startParley({ databaseUrl: database.url, env }) };
}

async function strike({ parley, database }: Service): Promise<void> {
  await parley.kill9();
  await database.drop();
}

/** Ends all services: the tests are over, or their process has died, and perhaps the database server as well. */
async function end(): Promise<void> {
  await Promise.allSettled([...idle, ...loans.values()].map(strike));
  process.exit();
}
