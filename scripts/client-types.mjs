/** Regenerates libs/client/src/openapi.ts from the service's OpenAPI document of the management API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from './demo/service-process.mjs';
import { openapiTypes } from './openapi-types.mjs';
import { ROOT, compile, ensureInstalled, say } from './prepare.mjs';

ensureInstalled();
compile();
const folder = mkdtempSync(join(tmpdir(), 'parley-types-'));
const env = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(folder, 'data'), AUTH_MODE: 'none' };
const service = new ServiceProcess('parley', 'src/main', { env, logFile: join(folder, 'log') });
try {
  const url = await service.ready();
  const document = await (await fetch(`${url}/docs-json`)).json();
  const path = join(ROOT, 'libs/client/src/openapi.ts');
  writeFileSync(path, await openapiTypes(document));
  say(`Wrote ${path}`);
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
