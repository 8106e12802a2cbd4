import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled } from './typescript-hooks.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/**
 * Pattern of the measured files: the sources of the service, its programs and its libraries, without tests and test
 * doubles.
 */
const MEASURED = /^(?:libs|src|apps)\/(?!.*\/testing\/)(?!.*\.spec\.ts$).*\.ts$/;
const INLINE_MAP = /\n\/\/# sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,(\S+)\s*$/;

/**
 * Measures the code that the tests of a file execute. Modules live as long as their worker, which measures all the
 * time: each file gets what was executed since the previous one. The report adds the files up.
 */
export class V8Coverage {
  #session;
  #scripts = [];
  #maps;

  async start() {
    if (this.#session !== undefined) return;
    this.#session = new Session();
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  async stop() {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    this.#scripts = result.filter(({ url }) => url.startsWith('file:') && isMeasured(fileURLToPath(url)));
  }

  /** Returns the input of Jest's reporter: each script with its compiled and its original source. */
  result() {
    return this.#scripts.map((script) => {
      const url = fileURLToPath(script.url);
      return { result: { ...script, url }, codeTransformResult: this.#transform(url) };
    });
  }

  #transform(url) {
    const code = compiled(url);
    const [, map = ''] = INLINE_MAP.exec(code) ?? [];
    this.#maps ??= mkdtempSync(join(tmpdir(), 'parley-coverage-'));
    const sourceMapPath = join(this.#maps, `${url.slice(ROOT.length)}.map`);
    mkdirSync(join(sourceMapPath, '..'), { recursive: true });
    writeFileSync(sourceMapPath, Buffer.from(map, 'base64'));
    return { code, originalCode: readFileSync(url, 'utf8'), sourceMapPath };
  }
}

function isMeasured(path) {
  return path.startsWith(ROOT) && MEASURED.test(path.slice(ROOT.length));
}
