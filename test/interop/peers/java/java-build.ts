import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { runOrFail, sentenceInCi } from '../../languages.js';
import { PeerProgram } from '../peer-program.js';

/** Folder in which the compiled programs stay, for later runs and other checkouts. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley-interop', 'java');
const MAVEN = ['--quiet', '--batch-mode', ...(process.env['CI'] === undefined ? [] : ['--offline'])];
/** File with the SHA-256 of the packages of a peer, in the form of `sha256sum`. */
const SUMS = 'packages.sha256';

type Command = readonly [string, ...string[]];

const commands = new Map<string, Command | string>();

/**
 * Returns the function that compiles a peer, whose folder pins its packages with their hashes.
 * @param name folder of the peer
 * @param shared names of the files in `program` that it is compiled with
 * @returns a function whose result is the program, or in CI the sentence why it cannot be compiled
 */
export function javaPeer(name: string, shared: readonly string[] = []): () => PeerProgram | string {
  return () => {
    const command = commands.get(name) ?? tryCompile(name, shared);
    commands.set(name, command);
    return typeof command === 'string' ? command : new PeerProgram(command, join(import.meta.dirname, name));
  };
}

function tryCompile(name: string, shared: readonly string[]): Command | string {
  try {
    return compile(name, shared);
  } catch (error) {
    return sentenceInCi(error as Error);
  }
}

/** Compiles a peer, unless an earlier run compiled the same files. @returns its command */
function compile(name: string, shared: readonly string[]): Command {
  const source = join(import.meta.dirname, name);
  const files = [
    ...readdirSync(source).map((file) => join(source, file)),
    ...shared.map((file) => join(import.meta.dirname, 'program', file)),
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  const home = join(CACHE, `${name}-${hash.digest('hex').slice(0, 16)}`);
  const list = join(home, 'packages.txt');
  if (!existsSync(join(home, 'compiled'))) {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    for (const file of files) cpSync(file, join(home, basename(file)));
    runOrFail(home, 'mvn', [...MAVEN, 'dependency:build-classpath', `-Dmdep.outputFile=${list}`]);
    checkPackages(source, readFileSync(list, 'utf8').trim().split(delimiter));
    if (isQuarkus(home)) runOrFail(home, 'mvn', [...MAVEN, 'package']);
    else runOrFail(home, 'javac', ['-d', home, '-cp', readFileSync(list, 'utf8').trim(), ...javaFilesOf(home)]);
    writeFileSync(join(home, 'compiled'), '');
  }
  if (isQuarkus(home)) return ['java', '-jar', join(home, 'target', 'quarkus-app', 'quarkus-run.jar')];
  return ['java', '-cp', `${home}${delimiter}${readFileSync(list, 'utf8').trim()}`, 'Main'];
}

function isQuarkus(home: string): boolean {
  return readFileSync(join(home, 'pom.xml'), 'utf8').includes('quarkus-maven-plugin');
}

function javaFilesOf(home: string): string[] {
  return readdirSync(home).filter((file) => file.endsWith('.java'));
}

/** Checks the packages by their hashes. Without a list of hashes, it writes the list. @throws Error if one differs */
function checkPackages(source: string, packages: readonly string[]): void {
  const sum = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  const lines = packages
    .map((file) => `${sum(file)}  ${basename(file)}\n`)
    .toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1));
  const text = lines.join('');
  const path = join(source, SUMS);
  if (!existsSync(path)) writeFileSync(path, text);
  const known = readFileSync(path, 'utf8').split('\n');
  const others = lines.filter((line) => !known.includes(line.trimEnd()));
  if (others.length > 0) throw new Error(`Packages that are not those of ${path}:\n${others.join('')}`);
}
