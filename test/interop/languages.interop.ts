import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DocumentedExample, documentedExamples, writeDocumentedFiles } from '../support/documented-files.js';
import { endWithProcess } from '../support/end-child.js';
import { freePort } from '../support/parley.js';
import { ParleyCommand } from '../support/parley-command.js';
import { until } from '../support/until.js';
import { useInteropStage } from './interop-stage.js';
import { type Language, openWorkshop, pinsOf, whyNotHere, type Workshop } from './languages.js';

const PAGE = 'REGISTERED-AGENTS.md';
const LANGUAGES: readonly Language[] = ['python', 'go', 'java'];
const SERVICE = 'http://127.0.0.1:3000';
/** Lines of a page that install packages; here the lock file does, with the same versions. */
const INSTALLS = /^(pip install|go mod init|mvn package)/;
const PIN = /(?<name>[\w./-]+)(?:\[[\w,-]+\])?(?:==|@)(?<version>v?\d[\w.]*)/g;

const examples = documentedExamples(PAGE);

for (const language of LANGUAGES) {
  const own = examples.filter(({ language: its }) => its === language);

  describe(`The agents of ${PAGE} in ${language}`, { skip: whyNotHere(language) ?? false }, () => {
    const stage = useInteropStage();
    let workshop: Workshop | string;

    const ports = new Map<DocumentedExample, string>();

    before(async () => {
      for (const example of own) ports.set(example, String(await freePort()));
      workshop = openWorkshop(language, (folder) => {
        writeDocumentedFiles(PAGE, folder);
        for (const [{ file, port }, free] of ports) replaceInFile(join(folder, file), port, free);
      });
    });
    after(() => typeof workshop !== 'string' && workshop?.remove());

    it('are on the page', () => assert.ok(own.length > 0));

    for (const example of own)
      it(`${example.title}: callers see what the page says`, async (context) => {
        if (typeof workshop === 'string') return context.skip(workshop);
        for (const { groups } of example.agent.matchAll(PIN))
          assert.match(
            pinsOf(language),
            new RegExp(`${groups!['name']!}(==|\\s)${RegExp.escape(groups!['version']!)}`),
          );
        const run = new ExampleRun(example, ports.get(example)!, workshop, stage.parley.url);
        stage.defer(() => run.end());
        await run.startAgent();
        assert.match(await run.call(), new RegExp(example.seen.trim()));
      });
  });
}

/** Agent of the page, at a port of its own, and the commands of its caller. */
class ExampleRun {
  readonly #command: ParleyCommand;
  #agent: ChildProcess | undefined;
  #output = '';

  constructor(
    private readonly example: DocumentedExample,
    private readonly port: string,
    private readonly workshop: Workshop,
    private readonly service: string,
  ) {
    this.#command = new ParleyCommand({ PARLEY_URL: service });
  }

  /** Runs the commands of the agent, and waits for its card. */
  async startAgent(): Promise<void> {
    const { folder, path } = this.workshop;
    const commands = this.atPort(this.example.agent).split('\n');
    const text = commands.filter((line) => !INSTALLS.test(line)).join('\n');
    const env = { ...process.env, PATH: path };
    this.#agent = endWithProcess(spawn('bash', ['-euc', text], { cwd: folder, env, detached: true }), true);
    for (const stream of [this.#agent.stdout!, this.#agent.stderr!])
      stream.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    await until(() => this.isReady(), { what: `the agent of "${this.example.title}"` });
  }

  /** Runs the commands of the caller. @returns what the last one prints */
  async call(): Promise<string> {
    let printed = '';
    for (const line of this.atPort(this.example.caller).trim().split('\n')) {
      const [, ...args] = line.replace(SERVICE, this.service).split(' ');
      const { code, out, err } = await this.#command.run(...args);
      assert.equal(code, 0, `${line}\n${out}${err}${this.#output}`);
      printed = out;
    }
    return printed;
  }

  end(): void {
    this.#command.end();
    if (this.#agent?.pid !== undefined && this.#agent.exitCode === null) process.kill(-this.#agent.pid, 'SIGKILL');
  }

  private atPort(commands: string): string {
    return commands.replaceAll(this.example.port, this.port);
  }

  private async isReady(): Promise<boolean> {
    assert.equal(this.#agent?.exitCode, null, this.#output);
    const card = fetch(`http://127.0.0.1:${this.port}/.well-known/agent-card.json`);
    return card.then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

function replaceInFile(file: string, text: string, by: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(text, by));
}
