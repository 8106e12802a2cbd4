import { setTimeout as delay } from 'node:timers/promises';
import { Api } from '../support/workflow.js';
import { Corpus } from './corpus.js';
import type { FuzzCase, Outcome, Seed } from './fuzz-case.js';
import { beginCaller } from './fuzz-caller.js';
import { FuzzReport } from './fuzz-report.js';
import { type CaseSource, generateCase } from './generate-case.js';
import type { ServiceOptions } from './options.js';
import { A2A_SEEDS } from './seeds/a2a-seeds.js';
import { apiSeeds, type OpenApi } from './seeds/api-seeds.js';
import { SERVICE_SEEDS } from './seeds/service-seeds.js';
import { grpcOutcome, httpOutcome } from './verdict.js';
import { WatchedService } from './watched-service.js';
import { RawGrpc } from './wire/grpc-wire.js';
import { RawHttp } from './wire/http-wire.js';

/** Milliseconds after which a missing answer counts as a hang. It is generous, since the machine may be busy. */
const DEADLINE_MS = 120_000;
/** Number of cases after which used-up objects are created again. */
const RENEW_EVERY = 800;
/** Milliseconds after the last case, in which remaining work ends before memory is measured. */
const REST_MS = 2_000;
/** Number of such rests, at most, while the heap is larger than it may be: a busy machine takes longer. */
const MOST_RESTS = 30;

/** Starts a service on a given database, and sends it the cases. */
export async function runFuzz(
  options: ServiceOptions,
  databaseUrl: string,
  say: (line: string) => void = () => undefined,
): Promise<FuzzReport> {
  const caller = await beginCaller(options.auth);
  const service = await WatchedService.start(databaseUrl, caller.env);
  const { port, host } = new URL(service.parley.url);
  const api = new Api(service.parley.url, caller.headers);
  const corpus = await Corpus.make(api, options.auth === 'api-key');
  const wires = { grpc: new RawGrpc(await service.grpcTarget()), http: new RawHttp(Number(port)) };
  const report = new FuzzReport(options);
  try {
    const seeds = grouped(await seedsOf(api));
    const source = { seeds, corpus, seed: options.seed, host, credentials: caller.headers };
    await sendAll(options, source, { service, ...wires, report, say });
    for (let rests = 0; rests === 0 || (report.excess > 0 && rests < MOST_RESTS); rests += 1) {
      await delay(options.only.length > 0 ? 200 : REST_MS);
      report.end = await service.memory();
    }
    report.loop = await service.loopDelay();
  } finally {
    wires.grpc.close();
    wires.http.close();
    await corpus.stop();
    report.exitCode = await service.stop().catch(() => null);
    report.logged = service.errors();
    await caller.stop();
  }
  return report;
}

interface Sending {
  service: WatchedService;
  grpc: RawGrpc;
  http: RawHttp;
  report: FuzzReport;
  say: (line: string) => void;
}

async function sendAll(options: ServiceOptions, source: CaseSource, sending: Sending): Promise<void> {
  const { service, report, say } = sending;
  const { only, cases, first, workers } = options;
  const total = only.length || cases;
  const step = Math.max(1, Math.ceil(total / 10));
  await service.watchLoop();
  for (let from = 0; from < total && service.parley.running(); from += step) {
    const indices = Array.from(
      { length: Math.min(step, total - from) },
      (_, at) => only[from + at] ?? first + from + at,
    );
    await sendSome(indices, workers, source, sending);
    if (from === 0) {
      await delay(only.length > 0 ? 0 : REST_MS);
      report.start = await service.memory();
      await service.watchLoop();
    }
    say(`${Math.min(from + step, total)} of ${total} cases, ${report.failures.length} failures`);
  }
}

async function sendSome(indices: number[], workers: number, source: CaseSource, sending: Sending): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < indices.length && sending.service.parley.running(); at = next++) {
      const index = indices[at] as number;
      if (at > 0 && at % RENEW_EVERY === 0) await source.corpus.renew();
      const fuzzCase = generateCase(source, index);
      const from = Date.now();
      sending.report.add(fuzzCase, await outcomeOf(fuzzCase, sending), from);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

async function outcomeOf(fuzzCase: FuzzCase, { grpc, http }: Sending): Promise<Outcome> {
  if (fuzzCase.transport === 'grpc') return grpcOutcome(fuzzCase, await grpc.send(fuzzCase, DEADLINE_MS));
  return httpOutcome(fuzzCase, await http.send(fuzzCase, DEADLINE_MS));
}

async function seedsOf(api: Api): Promise<Seed[]> {
  const document = (await (await fetch(`${api.url}/docs-json`)).json()) as OpenApi;
  return [...A2A_SEEDS, ...apiSeeds(document), ...SERVICE_SEEDS];
}

function grouped(seeds: Seed[]): Seed[][] {
  return [...Map.groupBy(seeds, ({ endpoint }) => endpoint).values()];
}
