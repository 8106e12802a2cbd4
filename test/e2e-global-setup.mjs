import { dirname, join, resolve } from 'node:path';
import { attach } from './support/attached-process.mjs';
import { copyBuiltService } from './support/built-service.mjs';
import { startTestPostgres } from './support/postgres-process.mjs';
import { migrateTemplate } from './support/template-database.mjs';

/**
 * Starts one PostgreSQL for the whole run and, where the service is built, one migrated template database.
 * The server ends with the process that runs Jest, however that ends (see postgres-supervisor.mjs).
 * `PARLEY_TEST_POSTGRES` names a given server instead: a URL whose role may create databases.
 */
export default async function setup() {
  process.env.PARLEY_TEST_POSTGRES ??= await startTestPostgres();
  const main = copyBuiltService();
  if (main === undefined) return;
  process.env.PARLEY_TEST_MAIN = main;
  // Kept beside the copy, and gone with it: what the first start compiles, no other compiles again. By a name that Node
  // does not know: a worker of Jest would write down all that it compiled when it is to end, until Jest kills it for that.
  process.env.PARLEY_TEST_COMPILED = join(dirname(main), 'compiled');
  const template = await migrateTemplate(process.env.PARLEY_TEST_POSTGRES, main);
  if (template !== undefined) process.env.PARLEY_TEST_TEMPLATE = template;
  process.env.PARLEY_TEST_SERVICES = await lendServices();
}

/** Starts what lends services to test files (support/shared-services.ts), and gives its URL. */
function lendServices() {
  const file = (name) => resolve(import.meta.dirname, 'support', name);
  const hooks = ['--import', file('typescript-hooks.mjs')];
  return attach([...hooks, file('shared-services.ts')], 'The services that test files share');
}
