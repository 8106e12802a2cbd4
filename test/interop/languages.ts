import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Languages of the agents in docs/REGISTERED-AGENTS.md, each with a folder here that has its lock file; and of peers. */
export type Language = 'python' | 'go' | 'java';
/** Languages that need a toolchain. */
export type ToolchainLanguage = Language | 'rust';

/** Folder in which the agents of a language run, with their packages. */
export interface Workshop {
  folder: string;
  /** Value of PATH for their commands. */
  path: string;
  remove(): void;
}

/** Milliseconds after which an installation in CI is given up: a slow registry must not delay a change. */
const LONGEST_INSTALL_MS = 90_000;
const IN_CI = process.env['CI'] !== undefined;
const PATH = process.env['PATH'] ?? '';

/** Options of Maven. In CI it takes only what earlier runs have fetched: the packages of Quarkus are 150 MB. */
const MAVEN = ['--quiet', '--batch-mode', ...(IN_CI ? ['--offline'] : [])];

const TOOLCHAINS: Record<ToolchainLanguage, { name: string; commands: readonly (readonly string[])[] }> = {
  python: {
    name: 'Python 3.10 or newer',
    commands: [['python3', '-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']],
  },
  go: { name: 'Go', commands: [['go', 'version']] },
  java: {
    name: 'Java 17 or newer with Maven',
    commands: [
      ['javac', '--release', '17', '--version'],
      ['mvn', '--version'],
    ],
  },
  rust: { name: 'Rust with cargo', commands: [['cargo', '--version']] },
};

const PREPARE: Record<Language, (folder: string) => string> = {
  python: preparePython,
  go: (folder) => {
    runOrFail(folder, 'go', ['mod', 'download']);
    return PATH;
  },
  java: (folder) => {
    runOrFail(folder, 'mvn', [...MAVEN, 'package']);
    return PATH;
  },
};

/** Returns the sentence why agents of a language cannot run on this machine, if so. */
export function whyNotHere(language: ToolchainLanguage): string | undefined {
  const { name, commands } = TOOLCHAINS[language];
  const isHere = commands.every(([command = '', ...args]) => spawnSync(command, args).status === 0);
  return isHere ? undefined : `${name} is not installed here`;
}

/**
 * Makes a folder with the packages that the lock file of a language names.
 * @param write writes the code of the agents into the folder
 * @returns the folder, or in CI the sentence why the packages cannot be had. Elsewhere this is an Error
 */
export function openWorkshop(language: Language, write: (folder: string) => void): Workshop | string {
  const folder = mkdtempSync(join(tmpdir(), `parley-${language}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  cpSync(join(import.meta.dirname, language), folder, { recursive: true });
  write(folder);
  try {
    return { folder, path: PREPARE[language](folder), remove };
  } catch (error) {
    remove();
    return sentenceInCi(error as Error);
  }
}

/** Compiled client of the Java SDK. */
export interface JavaClient {
  classPath: string;
  remove(): void;
}

/** Compiles the client of a version of the Java SDK. @returns the client, or in CI the sentence why it cannot be had */
export function compileJavaClient(version: 'v0-3' | 'v1-0'): JavaClient | string {
  const sources = join(import.meta.dirname, 'java-client');
  const folder = mkdtempSync(join(tmpdir(), 'parley-java-client-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  try {
    cpSync(join(sources, version), folder, { recursive: true });
    runOrFail(folder, 'mvn', [...MAVEN, 'dependency:build-classpath', '-Dmdep.outputFile=packages.txt']);
    const packages = readFileSync(join(folder, 'packages.txt'), 'utf8').trim();
    runOrFail(folder, 'javac', ['-d', folder, '-cp', packages, join(sources, 'Caller.java'), 'Wire.java']);
    return { classPath: `${folder}${delimiter}${packages}`, remove };
  } catch (error) {
    remove();
    return sentenceInCi(error as Error);
  }
}

/** Text of all files that pin packages of a language. */
export function pinsOf(language: Language): string {
  const file = { python: 'requirements.txt', go: 'go.mod', java: 'pom.xml' }[language];
  return readFileSync(join(import.meta.dirname, language, file), 'utf8');
}

/** Installs the packages into a virtual environment that later runs use again while the lock is the same. */
function preparePython(folder: string): string {
  const home = join(import.meta.dirname, 'node_modules', '.python');
  const [lock, stamp] = [join(folder, 'requirements.txt'), join(home, 'requirements.txt')];
  const bin = join(home, process.platform === 'win32' ? 'Scripts' : 'bin');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== readFileSync(lock, 'utf8')) {
    rmSync(home, { recursive: true, force: true });
    runOrFail(folder, 'python3', ['-m', 'venv', home]);
    const install = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '--requirement', lock];
    runOrFail(folder, join(bin, 'pip'), install);
    copyFileSync(lock, stamp);
  }
  return `${bin}${delimiter}${PATH}`;
}

/** Returns the sentence why packages cannot be had. @throws the Error itself elsewhere than in CI */
export function sentenceInCi(error: Error): string {
  if (!IN_CI) throw error;
  return `its packages cannot be installed here: ${error.message.split('\n')[0]}`;
}

/** Runs a command to its end. @throws Error with its output if it fails */
export function runOrFail(
  folder: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): void {
  const timeout = IN_CI ? LONGEST_INSTALL_MS : undefined;
  const options = { cwd: folder, encoding: 'utf8', timeout, env: { ...process.env, ...env } } as const;
  const outcome: SpawnSyncReturns<string> = spawnSync(command, args, options);
  if (outcome.status === 0) return;
  const why = outcome.error?.message ?? `exit code ${outcome.status}`;
  throw new Error(`${command} ${args.join(' ')}: ${why}\n${outcome.stdout}${outcome.stderr}`);
}
