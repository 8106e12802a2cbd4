import { randomBytes } from 'node:crypto';
import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import { median, medians } from '../measure/measurement.ts';
import { type BenchServer, startParley, startPeer } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { PARLEY, PARLEY_KEYS, PARLEY_TRACED, PARLEY_TRACED_ALL, PARLEY_TRACED_NONE } from './subject-names.ts';

/**
 * Two processes of the same service differ by a tenth for as long as they live, which is more than what is measured here:
 * so each round has so many times new ones: as many as there are places, since the first of a set is the dearest.
 */
const SETS_A_ROUND = 3;
/** What else happens on the machine comes and goes within seconds: turns are short, so that it meets all of a set. */
const TURNS = 4;
const CONNECTIONS = [32];

/** A server, and what it is asked. */
interface Extra {
  environment: Record<string, string>;
  /** Of every request. */
  credentials: Record<string, string>;
  /** By the name of the subject: its headers beside those. */
  requests: Record<string, Record<string, string>>;
}

/** What a caller says of its trace, whose word on sampling counts. */
const SAMPLED = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
const UNSAMPLED = { traceparent: SAMPLED.traceparent.replace(/01$/, '00') };
/** How many traces are sampled where nobody has said so. */
const SHARE = 0.1;

/**
 * Blocking SendMessage without, with an API key in every request, and with spans: what those cost. What the spans of all
 * traces cost is measured within one process, whose callers say whether their traces are sampled; one trace in ten costs a
 * tenth of that.
 */
export async function extrasCase(bench: Bench): Promise<Row[]> {
  const sink = await bench.using(startPeer('span-sink.ts'));
  const sets: Row[][] = [];
  const count = bench.options.rounds * SETS_A_ROUND;
  for (let set = 0; set < count; set += 1) {
    const started = await Promise.all(
      extras(sink).map((extra, index) => subjectsOf(bench, extra, `set_${set}_${index}`)),
    );
    // Whoever is measured first has another place each time.
    const first = set % started.length;
    try {
      sets.push(await measured(bench, [...started.slice(first), ...started.slice(0, first)].flat()));
    } finally {
      await Promise.all(started.map(async ([subject]) => subject?.server.stop()));
    }
  }
  // One pair in which the machine stood still for one of the two does not decide.
  const cost = (name: string, without: string): number =>
    median(sets.flatMap((rows) => ratio(rows, name, without) ?? []));
  bench.fact('costOfKey', cost(PARLEY_KEYS, PARLEY));
  bench.fact('costOfSpans', 1 + SHARE * (cost(PARLEY_TRACED_ALL, PARLEY_TRACED_NONE) - 1));
  return Object.values(Object.groupBy(sets.flat(), ({ subject }) => subject)).flatMap((rows = []) => {
    const measurement = medians(rows.map((row) => row.measurement));
    return rows[0] ? [{ ...rows[0], measurement }] : [];
  });
}

function extras(sink: BenchServer): Extra[] {
  const key = randomBytes(24).toString('base64url');
  const keys = { AUTH_MODE: 'api-key', AUTH_API_KEYS: `bench:${key}` };
  const spans = {
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(SHARE),
  };
  const traced = { [PARLEY_TRACED]: {}, [PARLEY_TRACED_ALL]: SAMPLED, [PARLEY_TRACED_NONE]: UNSAMPLED };
  return [
    { environment: {}, credentials: {}, requests: { [PARLEY]: {} } },
    { environment: keys, credentials: { authorization: `Bearer ${key}` }, requests: { [PARLEY_KEYS]: {} } },
    { environment: spans, credentials: {}, requests: traced },
  ];
}

async function subjectsOf({ postgres, using }: Bench, extra: Extra, database: string): Promise<Subject[]> {
  const { environment, credentials, requests } = extra;
  const server = await using(startParley(await postgres.database(database), environment));
  await saveWorkflow(server.url, ECHO, credentials);
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  return Object.entries(requests).map(([name, headers]) => ({
    name,
    server,
    postgres,
    template: { ...template, headers: { ...template.headers, ...credentials, ...headers } },
  }));
}

function measured(bench: Bench, subjects: Subject[]): Promise<Row[]> {
  return compare(
    { ...bench, options: { ...bench.options, rounds: TURNS, seconds: bench.options.seconds / TURNS } },
    { id: 'extras', title: 'SendMessage, keys and spans', unit: 'request', connections: CONNECTIONS, subjects },
  );
}

/** Node's CPU, × that of the same set without. */
function ratio(rows: readonly Row[], name: string, without: string): number | undefined {
  const [one, plain] = [name, without].map((subject) => rows.find((row) => row.subject === subject)?.measurement);
  return one && plain && one.nodeCpu / plain.nodeCpu;
}
