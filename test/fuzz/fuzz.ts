import 'reflect-metadata';
import { copyBuiltService } from '../support/built-service.mjs';
import { OwnPostgres } from '../support/own-postgres.js';
import { freshDatabase } from '../support/postgres.js';
import { type FuzzOptions, readOptions, type ServiceOptions, shares, USAGE } from './options.js';
import { runFuzz } from './run-fuzz.js';

const options = parsed();
say(`npm run fuzz -- --cases ${options.cases} --seed ${options.seed}: AUTH_MODE ${options.auth.join(', ')}`);
process.env.PARLEY_TEST_MAIN = copyBuiltService();
const postgres = await OwnPostgres.start();
process.env.PARLEY_TEST_POSTGRES = postgres.url;
try {
  const summaries: string[] = [];
  for (const share of shares(options)) summaries.push(await fuzz(share));
  process.stdout.write(`\n${summaries.join('\n\n')}\n`);
} finally {
  await postgres.stop();
}

/** Sends one service its share of the cases, and prints the result. @returns the summary */
async function fuzz(share: ServiceOptions): Promise<string> {
  const database = await freshDatabase({ empty: true });
  const report = await runFuzz(share, database.url, (line) => say(`AUTH_MODE=${share.auth}: ${line}`));
  await database.drop();
  const problems = report.problems();
  process.stdout.write(`\n${report.table()}\n`);
  if (problems.length > 0) {
    process.stdout.write(`\n${problems.slice(0, 50).join('\n')}\n\n${report.details()}\n`);
    process.exitCode = 1;
  }
  return report.summary();
}

function parsed(): FuzzOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
