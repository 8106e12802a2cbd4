import { resolve } from 'node:path';
import { parseArguments, UsageError } from './arguments.js';

describe('parseArguments', () => {
  it('names a scripted agent after its file and gives it a folder of its own', () => {
    expect(parseArguments(['--script', 'examples/critic.json'])).toMatchObject({
      name: 'critic',
      script: resolve('examples/critic.json'),
      port: 4001,
      host: '127.0.0.1',
      dataDir: resolve('.data/agents/critic'),
    });
  });

  it('takes a model instead of a script', () => {
    const given = parseArguments([
      '--llm',
      '--model',
      'm1',
      '--system-prompt',
      'Be brief.',
      '--name',
      'writer',
      '--port',
      '0',
    ]);
    expect(given).toMatchObject({ name: 'writer', model: 'm1', systemPrompt: 'Be brief.', port: 0 });
    expect(given?.script).toBeUndefined();
  });

  it('takes orders instead of either', () => {
    expect(parseArguments(['--order'])).toMatchObject({ name: 'order', order: true, script: undefined });
    expect(() => parseArguments(['--order', '--llm'])).toThrow(UsageError);
  });

  it('takes a role in brainstorms instead, and is called by it', () => {
    expect(parseArguments(['--role', 'review'])).toMatchObject({
      name: 'review',
      role: 'review',
      description: 'review takes part in brainstorms: review',
    });
  });

  it('gives nothing where help is asked for', () => {
    expect(parseArguments(['--help'])).toBeUndefined();
  });

  it.each([
    ['neither a script nor a model', []],
    ['both', ['--llm', '--script', 'a.json']],
    ['a role and a model', ['--role', 'build', '--llm']],
    ['a role that is none', ['--role', 'chief']],
    ['an unknown option', ['--llm', '--prot', '1']],
    ['a port that is none', ['--llm', '--port', '70000']],
    ['a port that is no number', ['--llm', '--port', 'http']],
    ['a name that is no path segment', ['--llm', '--name', '../x']],
  ])('refuses %s', (_what, argv) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
  });
});
