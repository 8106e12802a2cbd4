import { randomBytes } from 'node:crypto';
import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import { median, medians } from '../measure/measurement.ts';
import { type BenchServer, startParley, startPeer } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { PARLEY, PARLEY_KEYS, PARLEY_TRACED, PARLEY_TRACED_ALL, PARLEY_TRACED_NONE } from './subject-names.ts';

/**
 * Number of sets of new processes per round. Two processes of the same service differ permanently by a tenth, which
 * exceeds the measured cost. There are as many sets as positions in a set, since the first process of a set is the most
 * expensive.
 */
const SETS_A_ROUND = 3;
/**
 * Number of turns of each process. Turns are short, so that other load of the machine, which changes within seconds,
 * affects all processes of a set.
 */
const TURNS = 4;
const CONNECTIONS = [32];

/** Server with the headers of its requests. */
interface Extra {
  environment: Record<string, string>;
  /** Headers of every request. */
  credentials: Record<string, string>;
  /** Additional headers of the requests, by the name of the subject. */
  requests: Record<string, Record<string, string>>;
}

/** Headers of a caller that requests its trace to be sampled. */
const SAMPLED = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
const UNSAMPLED = { traceparent: SAMPLED.traceparent.replace(/01$/, '00') };
/** Fraction of traces that are sampled if the caller does not decide. */
const SHARE = 0.1;

/**
 * Measures a blocking SendMessage without extras, with an API key in every request, and with spans. The cost of the
 * spans of all traces is measured within one process, whose callers decide about sampling; one sampled trace in ten
 * costs a tenth of that.
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

/** Returns the CPU time of Node in relation to that of the process without extras in the same set. */
function ratio(rows: readonly Row[], name: string, without: string): number | undefined {
  const [one, plain] = [name, without].map((subject) => rows.find((row) => row.subject === subject)?.measurement);
  return one && plain && one.nodeCpu / plain.nodeCpu;
}
