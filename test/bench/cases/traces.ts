import { type Bench, compare, type Row } from '../comparison.ts';
import { startParley, startPeer } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { PARLEY, PARLEY_TRACED } from './subject-names.ts';

/** Blocking SendMessage with and without spans of one trace in ten: what tracing costs every Message. */
export async function tracesCase(bench: Bench): Promise<Row[]> {
  const { postgres } = bench;
  const [plainUrl, tracedUrl, sink] = await Promise.all([
    postgres.database('parley_plain'),
    postgres.database('parley_traced'),
    bench.using(startPeer('span-sink.ts')),
  ]);
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
  };
  const [plain, traced] = await Promise.all([
    bench.using(startParley(plainUrl)),
    bench.using(startParley(tracedUrl, environment)),
  ]);
  await Promise.all([saveWorkflow(plain.url, ECHO), saveWorkflow(traced.url, ECHO)]);
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  const subjects = [
    { name: PARLEY, server: plain, postgres, template },
    { name: PARLEY_TRACED, server: traced, postgres, template },
  ];
  const { connections } = bench.options;
  return compare(bench, {
    id: 'traces',
    title: 'SendMessage, one trace in ten',
    unit: 'request',
    connections,
    subjects,
  });
}
