import 'reflect-metadata';
import { copyBuiltService } from '../support/built-service.mjs';
import { OwnPostgres } from '../support/own-postgres.js';
import { type FuzzOptions, readOptions, USAGE } from './options.js';
import { runFuzz } from './run-fuzz.js';

const options = parsed();
const { cases, seed, auth } = options;
say(`npm run fuzz -- --cases ${cases} --seed ${seed} --auth ${auth}`);
process.env.PARLEY_TEST_MAIN = copyBuiltService();
const postgres = await OwnPostgres.start();
try {
  const report = await runFuzz(options, postgres.url, say);
  const problems = report.problems();
  process.stdout.write(`\n${report.table()}\n`);
  if (problems.length > 0) process.stdout.write(`\n${problems.slice(0, 50).join('\n')}\n\n${report.details()}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await postgres.stop();
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
