import { randomBytes } from 'node:crypto';
import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import { median, medians } from '../measure/measurement.ts';
import { type BenchServer, startParley, startPeer } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { PARLEY, PARLEY_KEYS, PARLEY_TRACED } from './subject-names.ts';

/**
 * Two processes of the same service differ by a tenth for as long as they live, which is more than what is measured here:
 * so each round has so many times new ones: as many as there are places, since the first of a set is the dearest.
 */
const SETS_A_ROUND = 3;
/** What else happens on the machine comes and goes within seconds: turns are short, so that it meets all of a set. */
const TURNS = 4;
const CONNECTIONS = [32];

interface Extra {
  name: string;
  environment: Record<string, string>;
  /** Of every request. */
  credentials: Record<string, string>;
}

/** Blocking SendMessage without, with an API key in every request, and with spans of one trace in ten: what those cost. */
export async function extrasCase(bench: Bench): Promise<Row[]> {
  const sink = await bench.using(startPeer('span-sink.ts'));
  const sets: Row[][] = [];
  const count = bench.options.rounds * SETS_A_ROUND;
  for (let set = 0; set < count; set += 1) {
    const subjects = await Promise.all(
      extras(sink).map((extra, index) => started(bench, extra, `set_${set}_${index}`)),
    );
    // Whoever is measured first has another place each time.
    const turned = [...subjects.slice(set % subjects.length), ...subjects.slice(0, set % subjects.length)];
    try {
      sets.push(await measured(bench, turned));
    } finally {
      await Promise.all(subjects.map(({ server }) => server.stop()));
    }
  }
  // One pair in which the machine stood still for one of the two does not decide.
  const cost = (name: string): number => median(sets.flatMap((rows) => ratio(rows, name) ?? []));
  bench.fact('costOfKey', cost(PARLEY_KEYS));
  bench.fact('costOfSpans', cost(PARLEY_TRACED));
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
    OTEL_TRACES_SAMPLER_ARG: '0.1',
  };
  return [
    { name: PARLEY, environment: {}, credentials: {} },
    { name: PARLEY_KEYS, environment: keys, credentials: { authorization: `Bearer ${key}` } },
    { name: PARLEY_TRACED, environment: spans, credentials: {} },
  ];
}

async function started({ postgres, using }: Bench, extra: Extra, database: string): Promise<Subject> {
  const { name, environment, credentials } = extra;
  const server = await using(startParley(await postgres.database(database), environment));
  await saveWorkflow(server.url, ECHO, credentials);
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  return { name, server, postgres, template: { ...template, headers: { ...template.headers, ...credentials } } };
}

function measured(bench: Bench, subjects: Subject[]): Promise<Row[]> {
  return compare(
    { ...bench, options: { ...bench.options, rounds: TURNS, seconds: bench.options.seconds / TURNS } },
    { id: 'extras', title: 'SendMessage, keys and spans', unit: 'request', connections: CONNECTIONS, subjects },
  );
}

/** Node's CPU, × that of the same set without. */
function ratio(rows: readonly Row[], name: string): number | undefined {
  const [one, plain] = [name, PARLEY].map((subject) => rows.find((row) => row.subject === subject)?.measurement);
  return one && plain && one.nodeCpu / plain.nodeCpu;
}
