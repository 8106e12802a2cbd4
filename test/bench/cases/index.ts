import type { Bench, Row } from '../comparison.ts';
import type { CaseName } from '../options.ts';
import { attacksCase } from './attacks.ts';
import { chunksCase } from './chunks.ts';
import { consoleCase } from './console.ts';
import { dagCase } from './dag.ts';
import { dagScaleCase } from './dag-scale.ts';
import { doorCase } from './door.ts';
import { doorWaitingCase } from './door-waiting.ts';
import { extrasCase } from './extras.ts';
import { floodCase } from './flood.ts';
import { gatewayCase } from './gateway.ts';
import { instructionsCase } from './instructions.ts';
import { killCase } from './kill.ts';
import { outboundCase } from './outbound.ts';
import { parkedCase } from './parked.ts';
import { readCase } from './read.ts';
import { replicasCase } from './replicas.ts';
import { runListCase } from './run-list.ts';
import { sendCase, streamCase } from './send.ts';
import { snapshotCase } from './snapshot.ts';
import { soakCase } from './soak.ts';
import { startCase } from './start.ts';
import { streamsCase } from './streams.ts';
import { takeoverCase } from './takeover.ts';
import { triggersCase } from './triggers.ts';

/** Function that executes each case. It returns rows, and adds notes and tables for other results. */
export const CASE_WORK: Record<CaseName, (bench: Bench) => Promise<Row[]>> = {
  send: sendCase,
  stream: streamCase,
  extras: extrasCase,
  read: readCase,
  dag: dagCase,
  'dag-scale': dagScaleCase,
  parked: parkedCase,
  streams: streamsCase,
  gateway: gatewayCase,
  chunks: chunksCase,
  outbound: outboundCase,
  door: doorCase,
  'door-waiting': doorWaitingCase,
  flood: floodCase,
  kill: killCase,
  takeover: takeoverCase,
  replicas: replicasCase,
  start: startCase,
  soak: soakCase,
  snapshot: snapshotCase,
  attacks: attacksCase,
  instructions: instructionsCase,
  console: consoleCase,
  runs: runListCase,
  triggers: triggersCase,
};
