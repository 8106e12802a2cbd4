import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentArguments } from './arguments.js';
import { agentNode } from './bootstrap.js';

const WANTED: AgentArguments = { name: 'a', description: '', port: 0, host: '127.0.0.1', dataDir: '/nowhere' };

describe('agentNode', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'agent-node-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const scripted = (text: string): Promise<unknown> => {
    const script = join(folder, 'script.json');
    writeFileSync(script, text);
    return agentNode({ ...WANTED, script });
  };

  it('is a script node with the content of the file', async () => {
    const script = { rules: [], otherwise: [{ complete: 'done' }] };
    expect(await scripted(JSON.stringify(script))).toEqual({ id: 'a', type: 'script', config: { script } });
  });

  it('is an agent node with what the command line says of the model', async () => {
    const node = await agentNode({ ...WANTED, model: 'm', systemPrompt: 'Be brief.' });
    expect(node).toEqual({ id: 'a', type: 'agent', config: { model: 'm', system_prompt: 'Be brief.' } });
    expect((await agentNode(WANTED)).config).toEqual({});
  });

  it.each([
    ['no JSON', '{', 'is not a JSON object'],
    ['no object', '[]', 'is not a JSON object'],
    ['no script', '{"steps":[]}', 'steps'],
  ])('refuses a file that holds %s, and says so', async (_what, text, said) => {
    const refusal = scripted(text);
    await expect(refusal).rejects.toThrow(Error);
    await expect(refusal).rejects.toThrow(said);
  });

  it('refuses a file that is not there', async () => {
    await expect(agentNode({ ...WANTED, script: join(folder, 'nope.json') })).rejects.toThrow('cannot be read');
  });
});
