import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compileCache, freePort } from './parley.js';
import { until } from './until.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** URL of the service in the pages. It is replaced by that of the tests' service. */
const SERVICE = 'http://127.0.0.1:3000';
/** Ports of agents and receivers in the pages. */
const PORTS = /\b40[01]\d\b/g;

/** Block of a page that a reader shall run, and the output that the page promises. */
export interface RunnableBlock {
  line: number;
  text: string;
  /** True if the block runs in a separate terminal until the page has been read. */
  inTerminal: boolean;
  /** Lines that the output must have, in this order; `…` stands for any text. */
  shows: string[];
}

/** Returns the blocks of a page that begin with `sh run` or `js run`, each with the block `text shows` after it. */
export function runnableBlocks(markdown: string): RunnableBlock[] {
  const blocks: RunnableBlock[] = [];
  for (const { index, 1: info = '', 2: text = '' } of markdown.matchAll(/^```(\w+(?: \w+)*)\n([\s\S]*?)^```$/gm)) {
    const line = markdown.slice(0, index).split('\n').length;
    if (/^sh run( terminal)?$/.test(info))
      blocks.push({ line, text, inTerminal: info.endsWith('terminal'), shows: [] });
    else if (info === 'js run') blocks.push({ line, text: asCommand(text), inTerminal: false, shows: [] });
    else if (info === 'text shows') blocks.at(-1)!.shows = text.trimEnd().split('\n');
  }
  return blocks;
}

/** Returns a program as a reader would run it after installing what it imports. */
function asCommand(program: string): string {
  return `ln -sfn '${join(ROOT, 'node_modules')}' node_modules
'${process.execPath}' --input-type=module <<'PROGRAM'
${program}PROGRAM
`;
}

/** Reader who follows a page exactly, in a separate folder, with a running service. */
export class Reader {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-reader-'));
  private readonly shells: ChildProcess[] = [];
  private readonly ports = new Map<string, number>();

  /** @param database creates a database for each agent that the page starts, and returns its URL */
  constructor(
    private readonly serviceUrl: string,
    private readonly database: () => Promise<string>,
  ) {
    this.writeCommands();
  }

  /** Runs the blocks of a page one after the other, in one shell. @returns the output of each block */
  async follow(page: string): Promise<{ block: RunnableBlock; out: string }[]> {
    const results: { block: RunnableBlock; out: string }[] = [];
    const shell = new Shell(this.bash([]));
    for (const block of runnableBlocks(readFileSync(join(ROOT, page), 'utf8'))) {
      const text = await this.placed(block.text);
      const file = join(this.folder, `.block-${block.line}.sh`);
      writeFileSync(file, text);
      if (block.inTerminal) await this.openTerminal(file);
      else results.push({ block, out: await shell.source(file, `the block at ${page}:${block.line}:\n${text}`) });
    }
    return results;
  }

  end(): void {
    for (const { pid } of this.shells) if (pid !== undefined) killGroup(pid);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private async placed(text: string): Promise<string> {
    for (const [port] of text.matchAll(PORTS)) if (!this.ports.has(port)) this.ports.set(port, await freePort());
    return text.replaceAll(SERVICE, this.serviceUrl).replace(PORTS, (port) => String(this.ports.get(port)));
  }

  private async openTerminal(file: string): Promise<void> {
    const terminal = this.bash([file], { DATABASE_URL: await this.database() });
    let out = '';
    for (const stream of [terminal.stdout!, terminal.stderr!])
      stream.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await until(() => terminal.exitCode !== null || /\bis ready on\b/.test(out), { what: `${file} to be ready` });
    if (terminal.exitCode !== null) throw new Error(`${file} ended with ${terminal.exitCode}:\n${out}`);
  }

  private bash(args: readonly string[], more: Record<string, string> = {}): ChildProcess {
    const env = {
      ...compileCache(),
      PATH: `${join(this.folder, '.bin')}:${process.env.PATH ?? ''}`,
      HOME: this.folder,
      PARLEY_URL: this.serviceUrl,
      ...more,
    };
    const options = { cwd: this.folder, env, detached: true } as const;
    const child = spawn('bash', ['-euo', 'pipefail', ...args], options);
    this.shells.push(child);
    return child;
  }

  /** Writes the commands that pages use as scripts that run the local build; `curl` fails if a service refuses. */
  private writeCommands(): void {
    const bin = join(this.folder, '.bin');
    mkdirSync(bin);
    symlinkSync(join(ROOT, 'examples'), join(this.folder, 'examples'));
    const node = `exec '${process.execPath}' '${ROOT}/dist/apps`;
    const commands = {
      curl: 'PATH="${PATH#*:}" exec curl --fail-with-body --show-error "$@"',
      parley: `${node}/cli/src/main.js' "$@"`,
      npm: `case "$*" in
"run parley -- "*) shift 3; exec parley "$@";;
"run agent -- "*) shift 3; ${node}/agent/src/main.js' "$@";;
esac
echo "Nobody knows: npm $*" >&2; exit 1`,
    };
    for (const [name, body] of Object.entries(commands)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(bin, name), 0o755);
    }
  }
}

/** Shell that keeps variables and the working directory from one block to the next. */
class Shell {
  private printed = '';
  private complaints = '';

  constructor(private readonly child: ChildProcess) {
    child.stdout!.on('data', (chunk: Buffer) => (this.printed += chunk.toString()));
    child.stderr!.on('data', (chunk: Buffer) => (this.complaints += chunk.toString()));
  }

  /** Executes the commands of a file. @returns their output. @throws Error with all output if a command fails */
  async source(file: string, what: string): Promise<string> {
    this.printed = '';
    const end = `--- ${file} has ended ---\n`;
    this.child.stdin!.write(`. '${file}'; echo '${end.trimEnd()}'\n`);
    await until(() => this.child.exitCode !== null || this.printed.endsWith(end), { what });
    if (!this.printed.endsWith(end)) throw new Error(`Failed: ${what}\n${this.printed}\n${this.complaints}`);
    return this.printed.slice(0, -end.length);
  }
}

/** True if the output contains every line of `shows`, in this order. */
export function showsAll(out: string, shows: readonly string[]): boolean {
  const pattern = shows.map((line) => line.trim().split('…').map(RegExp.escape).join('.*?')).join('[\\s\\S]*?');
  return new RegExp(pattern).test(out);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended.
  }
}
