import pg from 'pg';

/** Key of an advisory lock. Any number is possible, since the initial database of the test server has no other lock. */
const LOCK = 1;
/** Milliseconds that exceed the total time of all files that take turns, even on a busy machine. */
const ALL_TURNS_MS = 3_600_000;

/**
 * Makes a test file that fills the memory or the processors of the machine wait, before its service starts, until no
 * other such file of this test run executes. Call it before `useStage()`. test/sequencer.mjs spreads these files, so
 * that few of them wait.
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
