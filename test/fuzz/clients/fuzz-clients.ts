import 'reflect-metadata';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installOwnPackages } from '../../../scripts/own-packages.mjs';
import { copyBuiltService } from '../../support/built-service.mjs';
import { CheckList } from '../../support/check-list.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { startParley } from '../../support/parley.js';
import { freshDatabase } from '../../support/postgres.js';
import { installPythonPackages, runOrFail, whyNoPython } from '../../support/python-packages.js';
import { echo, input, linear, output } from '../../support/workflow.js';

/**
 * Validates the OpenAPI document of the service with four validators, and calls the service with the clients that
 * oapi-codegen (Go) and openapi-python-client make of it. What a missing toolchain needs is skipped, with the reason.
 */
const PYTHON = join(import.meta.dirname, 'python');
const VALIDATORS = join(import.meta.dirname, 'validators');
const SEEN = 'CONFLICT true completed';

const checks = new CheckList();
const folder = mkdtempSync(join(tmpdir(), 'parley-clients-'));
process.env['PARLEY_TEST_MAIN'] = copyBuiltService();
const postgres = await OwnPostgres.start();
process.env['PARLEY_TEST_POSTGRES'] = postgres.url;
const database = await freshDatabase();
const service = await startParley({ databaseUrl: database.url });
try {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, await (await fetch(`${service.url}/docs-json`)).text());
  await checks.check('openapi-schema-validator, swagger-parser and redocly find the document valid', () =>
    validate(file),
  );
  await runIf(whyNoPython(), 'openapi-spec-validator finds it valid, and a client in Python calls the service', () =>
    callInPython(file),
  );
  await runIf(whyNoGo(), 'a client in Go compiles and calls the service', () => callInGo(file));
} finally {
  await service.stop();
  await database.drop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
checks.end();

async function runIf(missing: string | undefined, what: string, work: () => void): Promise<void> {
  if (missing === undefined) await checks.check(what, work);
  else checks.skip(what, missing);
}

function validate(file: string): void {
  const failure = installOwnPackages(VALIDATORS, 'the validators');
  assert.equal(failure, undefined);
  assert.equal(runOrFail(VALIDATORS, process.execPath, ['validate.mjs', file]).trim(), 'valid');
}

function callInPython(file: string): void {
  const bin = installPythonPackages(join(PYTHON, 'requirements.txt'), join(PYTHON, 'node_modules', '.python'));
  runOrFail(folder, join(bin, 'openapi-spec-validator'), [file]);
  const generate = ['generate', '--path', file, '--meta', 'none', '--output-path', join(folder, 'parley_api')];
  runOrFail(folder, join(bin, 'openapi-python-client'), generate);
  cpSync(join(PYTHON, 'call.py'), join(folder, 'call.py'));
  const printed = runOrFail(folder, join(bin, 'python'), ['call.py', service.url, definitionOf('generated_python')]);
  assert.equal(printed.trim(), SEEN);
}

function callInGo(file: string): void {
  const sources = join(folder, 'go');
  cpSync(join(import.meta.dirname, 'go'), sources, { recursive: true });
  const generator = ['tool', 'oapi-codegen', '-generate', 'types,client', '-package', 'main', '-o', 'client.gen.go'];
  runOrFail(sources, 'go', [...generator, file]);
  assert.equal(runOrFail(sources, 'go', ['run', '.', service.url, definitionOf('generated_go')]).trim(), SEEN);
}

function whyNoGo(): string | undefined {
  return spawnSync('go', ['version']).status === 0 ? undefined : 'Go is not installed here';
}

function definitionOf(name: string): string {
  return JSON.stringify(linear(name, input('in'), echo('say'), output('out')));
}
