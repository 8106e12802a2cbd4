import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import { Acknowledgements } from '../durability/acknowledgements.ts';
import { Callers } from '../durability/callers.ts';
import { checkDatabase } from '../durability/check-database.ts';
import { childrenOf } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';

const LOAD_MS = 1_000;
const STARTED_WITHIN_MS = 30_000;

/** Kills Parley and PostgreSQL under load, then checks that everything acknowledged exists. */
export async function killCase(bench: Bench): Promise<Row[]> {
  const victims = {
    'kill -9 of Parley': (stage: KillStage) => stage.killParley(),
    'kill -9 of a PostgreSQL backend': (stage: KillStage) => stage.killBackend(),
    'kill -9 of the postmaster': (stage: KillStage) => stage.endPostgres('SIGKILL'),
    'immediate stop of PostgreSQL': (stage: KillStage) => stage.endPostgres('SIGQUIT'),
  };
  const rows: (string | number)[][] = [];
  let lost = 0;
  for (const [name, kill] of Object.entries(victims)) {
    const stage = await KillStage.start(bench);
    const { refused, kills, losses } = await stage.run(kill);
    const { acknowledged, missing, undone, shortened, torn, unfinished } = losses;
    lost += missing + undone + shortened + torn;
    rows.push([name, kills, acknowledged, refused, missing, undone, shortened, torn, unfinished].map(String));
    bench.progress(`${name}: ${JSON.stringify({ kills, refused, ...losses })}`);
  }
  const header = ['under load', 'kills', 'acknowledged Tasks', 'requests without an answer'];
  header.push(
    'missing',
    'answered COMPLETED, is not',
    'log shorter than streamed',
    'torn logs',
    'not finished after 30 s',
  );
  bench.table({ title: `Kills under load: lost=${lost}`, header, rows });
  bench.progress(`lost=${lost}`);
  if (lost > 0) throw new Error(`lost=${lost}: acknowledged Tasks are not as they were answered`);
  return [];
}

class KillStage {
  private readonly bench: Bench;
  private readonly databaseUrl: string;
  private parley: BenchServer;

  private constructor(bench: Bench, databaseUrl: string, parley: BenchServer) {
    this.bench = bench;
    this.databaseUrl = databaseUrl;
    this.parley = parley;
  }

  static async start(bench: Bench): Promise<KillStage> {
    const databaseUrl = await bench.postgres.database('kill');
    const parley = await startParley(databaseUrl, { LOG_LEVEL: 'silent' });
    const stage = new KillStage(bench, databaseUrl, parley);
    await bench.using(Promise.resolve({ stop: () => stage.parley.stop() }));
    await saveWorkflow(parley.url, ECHO);
    return stage;
  }

  async run(kill: (stage: KillStage) => Promise<void>) {
    const kills = this.bench.options.kills;
    const log = new Acknowledgements();
    const callers = new Callers(`${this.parley.url}${ECHO_PATH}`, log);
    try {
      for (let index = 0; index < kills; index += 1) {
        await delay(LOAD_MS);
        await kill(this);
        await this.answering(log);
      }
      await delay(LOAD_MS);
    } finally {
      await callers.stop();
    }
    const losses = await checkDatabase(this.databaseUrl, log);
    await this.parley.stop();
    return { kills, refused: log.refused, losses };
  }

  async killParley(): Promise<void> {
    await this.parley.stop('SIGKILL');
    await this.restart();
  }

  /** Kills the process of one session. PostgreSQL then ends all others and recovers. */
  async killBackend(): Promise<void> {
    const backends = childrenOf(this.bench.postgres.pid);
    // The youngest process serves a session; the oldest are the server's own.
    process.kill(backends.at(-1) ?? 0, 'SIGKILL');
    await delay(LOAD_MS);
  }

  /** Ends the embedded server. Its supervisor in this process starts it again. */
  async endPostgres(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    process.kill(this.bench.postgres.pid, signal);
    await delay(LOAD_MS);
  }

  private async restart(): Promise<void> {
    const { port } = new URL(this.parley.url);
    this.parley = await startParley(this.databaseUrl, { LOG_LEVEL: 'silent', PORT: port });
  }

  /**
   * Waits until Messages are acknowledged again. A Parley process that has exited is started again, as a supervisor
   * would.
   */
  private async answering(log: Acknowledgements): Promise<void> {
    const deadline = Date.now() + STARTED_WITHIN_MS;
    const before = log.answered.size;
    while (log.answered.size === before) {
      if (Date.now() > deadline) throw new Error(`Nothing was acknowledged ${STARTED_WITHIN_MS / 1000} s after a kill`);
      if (!this.parley.running()) {
        this.bench.note('Parley ended by itself after a kill of PostgreSQL, and was started again.');
        await this.restart();
      }
      await delay(50);
    }
  }
}
