import pg from 'pg';

/** Any number: there is no other lock on the database that the server of the tests begins with. */
const LOCK = 1;
/** More than all files with turns take on a busy machine. */
const ALL_TURNS_MS = 3_600_000;

/**
 * A file that fills the memory or the processors of a machine waits, before its service starts, until no other such file
 * is under way in this run. Called before `useStage()`; test/sequencer.mjs spreads these files, so that few wait.
 */
export function takeTurns(): void {
  let turn: pg.Client | undefined;
  beforeAll(async () => {
    turn = new pg.Client({ connectionString: process.env.PARLEY_TEST_POSTGRES });
    turn.on('error', () => undefined);
    await turn.connect();
    await turn.query('SELECT pg_advisory_lock($1)', [LOCK]);
  }, ALL_TURNS_MS);
  afterAll(() => turn?.end());
}
