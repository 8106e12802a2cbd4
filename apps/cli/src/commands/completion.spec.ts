import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { runCommand } from '../parley.js';
import { Terminal } from '../terminal.js';

/** Returns the code and the output of a command without a service. */
async function command(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const terminal = new Terminal({
    out: { write: (text: string) => (out += text) },
    err: { write: (text: string) => (err += text) },
    input: new PassThrough(),
    env: { PARLEY_URL: 'http://127.0.0.1:9' },
  });
  const code = await runCommand(args, terminal);
  return { code, out, err };
}

/**
 * Runs the bash commands in `text` after loading the completion script.
 * @param program definition of shell functions that replace the program `parley`
 */
async function bash(text: string, program = ''): Promise<{ stdout: string; stderr: string }> {
  const { out } = await command('completion', 'bash');
  const { stdout, stderr } = spawnSync('bash', ['-c', `${program}\n${out}\n${text}`], { encoding: 'utf8' });
  return { stdout, stderr };
}

/**
 * Returns bash commands that ask the completion function to complete the last of these words, and print its candidates.
 */
function completes(words: string[], complete = '_parley'): string {
  const line = words.map((word) => `'${word}'`).join(' ');
  const set = `COMP_WORDS=(${line}); COMP_LINE="\${COMP_WORDS[*]}"; COMP_CWORD=${words.length - 1}`;
  return `${set}; ${complete}; echo "\${COMPREPLY[@]}"`;
}

/**
 * Shell functions in place of `parley` and `npx`. They print their arguments as one name, and write the line `call` to
 * standard error for each call.
 */
const NAMES = `names_of() { local IFS=_; echo "n-$*"; echo call >&3; }; exec 3>&2; parley() { names_of "$@"; }; npx() { names_of "$@"; }`;

describe('parley completion bash', () => {
  it('is a document for programs', async () => {
    const { out } = await command('completion', 'bash');
    const json = await command('completion', 'bash', '--json');
    expect(JSON.parse(json.out)).toEqual({ shell: 'bash', script: out.slice(0, -1) });
  });

  it.each([
    [['ru'], 'run runs'],
    [['apply', '--pr'], '--prune'],
    [['completion', 'z'], 'zsh'],
    [['agent', 'se'], 'serve'],
    [['run', 'greeting', '--fo'], '--follow'],
    [['nam'], ''],
  ])('completes parley %j', async (words, found) => {
    const { stdout, stderr } = await bash(`${completes(['parley', ...words])}; complete -p parley`);
    expect([stderr, stdout]).toEqual(['', `${found}\ncomplete -F _parley parley\n`]);
  });

  it.each([
    [['run', 'n-'], 'n-names_workflows'],
    [['run', '-i', 'a', 'n-'], 'n-names_workflows'],
    [['run', 'greeting', 'n-'], ''],
    [['runs', '-w', ''], 'n-names_workflows'],
    [['logs', '-f', 'n-'], 'n-names_runs'],
    [['rerun', 'r1', '--from', ''], 'n-names_nodes_r1'],
    [['answer', 'r1', '--node', 'n-'], 'n-names_nodes_r1'],
    [['models', 'show', 'n-'], 'n-names_models'],
    [['export', 'a', 'b', 'n-'], 'n-names_exports'],
    [['run', '-i', 'n-'], ''],
    [['--url', 'n-'], ''],
  ])('completes parley %j with names of the service', async (words, found) => {
    const { stdout } = await bash(completes(['parley', ...words]), NAMES);
    expect(stdout).toBe(`${found}\n`);
  });

  it('completes npx --no parley-a2a, and passes the URL on', async () => {
    const words = ['npx', '--no', 'parley-a2a', 'run', '--url', 'http://x', 'n-'];
    const { stdout } = await bash(`${completes(words, '_parley_npx')}; complete -p npx`, NAMES);
    expect(stdout).toBe('n---no_parley-a2a_names_workflows_--url_http://x\ncomplete -F _parley_npx npx\n');
  });

  it('replaces no other completion of npx', async () => {
    const { stdout } = await bash('complete -p npx', 'complete -F other npx');
    expect(stdout).toBe('complete -F other npx\n');
  });

  it('keeps names for five seconds', async () => {
    const ask = completes(['parley', 'run', 'n-']);
    const { stderr } = await bash(`${ask}; ${ask}; _parley_at=$((SECONDS - 5)); ${ask}`, NAMES);
    expect(stderr).toBe('call\ncall\n');
  });
});

it('parley names prints nothing, and does not fail, without a service', async () => {
  expect(await command('names', 'workflows')).toEqual({ code: 0, out: '\n', err: '' });
});

it.each(['zsh', 'fish'])('parley completion %s names the commands and the kinds of names', async (shell) => {
  const { out } = await command('completion', shell);
  expect(out).toContain('names');
  for (const word of ['parley-a2a', 'rerun', 'workflows', 'npx', '-ge 5']) expect(out).toContain(word);
});
