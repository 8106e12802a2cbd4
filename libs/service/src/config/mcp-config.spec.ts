import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from './load-config.js';

const folder = mkdtempSync(join(tmpdir(), 'mcp-config-'));
const file = join(folder, 'servers.json');
afterAll(() => rmSync(folder, { recursive: true }));

function linesOf(content: unknown): readonly string[] {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  try {
    loadConfig({ MCP_SERVERS_FILE: file });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}

const entry = (it: object): object => ({ mcpServers: { files: it } });

test('programs and URLs are read', () => {
  const mcpServers = {
    files: { command: 'node', args: ['server.mjs'], env: { ROOT: '/srv' }, cwd: '/srv', approve: ['write_*'] },
    github: { url: 'https://mcp.example.com/v1?x=1', auth: 'github', allow: ['search_*'] },
    plain: { command: 'plain' },
  };
  writeFileSync(file, JSON.stringify({ mcpServers }));
  const { mcp } = loadConfig({ MCP_SERVERS_FILE: file, CARD_CHANGE_POLICY: 'block' });
  expect(mcp.changes).toBe('block');
  expect(mcp.servers).toEqual([
    {
      name: 'files',
      at: { command: 'node', args: ['server.mjs'], env: { ROOT: '/srv' }, cwd: '/srv' },
      approve: ['write_*'],
    },
    { name: 'github', at: { url: 'https://mcp.example.com/v1?x=1', auth: 'github' }, allow: ['search_*'] },
    { name: 'plain', at: { command: 'plain', args: [], env: {} } },
  ]);
});

test('MCP_CHANGE_POLICY goes before that of cards', () => {
  expect(loadConfig({ CARD_CHANGE_POLICY: 'block', MCP_CHANGE_POLICY: 'allow' }).mcp.changes).toBe('allow');
});

test.each<[string, unknown, string]>([
  ['no JSON', '{', 'is no JSON'],
  ['a list', [], 'must have one member, mcpServers: an object of servers by name'],
  ['another member', { mcpServers: {}, servers: {} }, 'must have one member, mcpServers: an object of servers by name'],
  [
    'a server that is a text',
    { mcpServers: { files: 'secret' } },
    'must have one member, mcpServers: an object of servers by name',
  ],
  [
    'a bad name',
    { mcpServers: { 'my files': { command: 'secret' } } },
    'names a server otherwise than with 1 to 64 letters, digits, underscores or hyphens',
  ],
  ['neither', entry({}), 'must have either command or url at mcpServers.files'],
  [
    'both',
    entry({ command: 'secret', url: 'https://secret.example' }),
    'must have either command or url at mcpServers.files',
  ],
  [
    'a number in args',
    entry({ command: 'secret', args: [1] }),
    'is wrong at mcpServers.files.args.0: must be a string',
  ],
  [
    'a number in env',
    entry({ command: 'secret', env: { A: 1 } }),
    'is wrong at mcpServers.files.env.A: must be a string',
  ],
  ['auth of a program', entry({ command: 'secret', auth: 'x' }), 'is wrong at mcpServers.files: unknown member auth'],
  [
    'a file URL',
    entry({ url: 'file:///secret' }),
    'is wrong at mcpServers.files.url: must be an http:// or https:// URL without credentials or fragment',
  ],
  [
    'a password',
    entry({ url: 'https://ann:secret@x.example' }),
    'is wrong at mcpServers.files.url: must be an http:// or https:// URL without credentials or fragment',
  ],
  [
    'a bad glob',
    entry({ command: 'secret', allow: ['a b'] }),
    'is wrong at mcpServers.files.allow.0: must be a glob of tool names',
  ],
])('a file with %s stops the start with one line', (_, content, reason) => {
  expect(linesOf(content)).toEqual([`MCP_SERVERS_FILE: the file ${reason}`]);
});

test('a file that is not there stops the start', () => {
  expect(() => loadConfig({ MCP_SERVERS_FILE: join(folder, 'none.json') })).toThrow(
    'MCP_SERVERS_FILE: the file cannot be read (ENOENT)',
  );
});
