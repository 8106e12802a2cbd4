import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { ParleyCommand } from '../support/parley-command.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api, input, linear, output, unique } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);

function withKey(key: string): Api {
  return new Api(stage.parley.url, { 'x-api-key': key });
}

async function makeKey(name: string, scopes: string[]): Promise<{ name: string; key: string }> {
  return (await withKey(ANN.key).call<{ name: string; key: string }>('POST', '/keys', { name, scopes })).body;
}

describe('keys in files', () => {
  const [secret, name] = [`parley_${randomBytes(24).toString('hex')}`, unique('partner')];
  const title = `key ${name}-${hashOf(secret).slice(0, 8)}`;
  let parley: ParleyCommand;

  beforeEach(() => {
    parley = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARLEY_API_KEY: ANN.key });
    mkdirSync(join(parley.folder, 'workflows/.parley'), { recursive: true });
  });

  afterEach(() => parley.end());

  const write = (...lines: string[]): void =>
    writeFileSync(join(parley.folder, 'workflows/key.yaml'), `kind: key\n${lines.join('\n')}\n`);

  it('admit a caller by the hash of its key, change its scopes, and are exported without a secret', async () => {
    write(`name: ${name}`, `hash: ${hashOf(secret)}`, 'scopes: [workflows, agents]');
    const checked = await parley.run('check');
    expect(checked).toMatchObject({ code: 0, out: '1 object checked, no problems found.\n' });
    expect(await parley.run('diff')).toMatchObject({ code: 2, out: `${title} is only in the files\n` });
    expect((await withKey(secret).call('GET', '/workflows')).status).toBe(401);
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `${title} created\n` });
    const workflow = linear(unique('w'), input('in'), output('out'));
    expect((await withKey(secret).call('PUT', `/workflows/${workflow.name}`, workflow)).status).toBeLessThan(300);
    expect((await parley.run('apply')).out).toBe(`${title} unchanged\n`);

    write(`name: ${name}`, `hash: ${hashOf(secret)}`);
    const differs = await parley.run('diff');
    expect(differs).toMatchObject({ code: 2, out: expect.stringContaining('scopes') as string });
    expect((await parley.run('apply')).out).toBe(`${title} updated\n`);
    expect((await withKey(secret).call('DELETE', `/workflows/${workflow.name}`)).status).toBe(403);

    const exported = await parley.run('export', title.replace(' ', '/'));
    expect(exported).toMatchObject({ code: 0, out: `${title} → workflows/key.yaml\n` });
    const file = readFileSync(join(parley.folder, 'workflows/key.yaml'), 'utf8');
    expect(file).toBe(`kind: key\nname: ${name}\nhash: ${hashOf(secret)}\nscopes:\n  - agents\n`);
    expect(JSON.stringify([checked, differs, exported, file])).not.toContain(secret);

    rmSync(join(parley.folder, 'workflows/key.yaml'));
    expect((await parley.run('apply', '--prune')).out).toBe(`${title} deleted\n`);
    expect((await withKey(secret).call('GET', '/workflows')).status).toBe(401);
    write(`name: ${name}`, `hash: ${hashOf(secret)}`);
    expect(await parley.run('apply', '--force')).toMatchObject({
      code: 2,
      err: expect.stringContaining('has ended: a file needs the hash of a new key') as string,
    });
  });

  it('neither delete the key of the request, nor take the scope admin from it', async () => {
    const own = await makeKey(unique('deployer'), ['agents', 'workflows', 'admin']);
    const applied = (...args: string[]) => deployer.run('apply', '-f', join(parley.folder, 'workflows'), ...args);
    const deployer = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARLEY_API_KEY: own.key });
    try {
      write(`name: ${own.name}`, `hash: ${hashOf(own.key)}`, 'scopes: [admin, agents, workflows]');
      expect((await applied('--adopt')).out).toMatch(/ unchanged\n$/);
      write(`name: ${own.name}`, `hash: ${hashOf(own.key)}`, 'scopes: [workflows]');
      expect((await applied()).err).toContain('must keep the scope admin: this request uses it');
      rmSync(join(parley.folder, 'workflows/key.yaml'));
      expect((await applied('--prune', '--dry-run')).err).toContain('cannot be deleted: this request uses it');
      expect((await applied('--prune')).err).toContain('cannot be deleted: this request uses it');
      expect((await withKey(own.key).call('GET', '/keys')).status).toBe(200);
    } finally {
      deployer.end();
    }
  });

  it('are refused without the scope admin, with a wrong hash, and for the key of another caller', async () => {
    const writer = await makeKey(unique('writer'), ['agents', 'workflows']);
    const object = { kind: 'key', definition: { name: unique('x'), hash: hashOf(randomBytes(8).toString('hex')) } };
    const body = { workflows: [], objects: [object] };
    expect((await withKey(writer.key).call('POST', '/apply', body)).status).toBe(403);
    write(`name: ${name}`, 'hash: 0123');
    const problem = 'workflows/key.yaml:3 hash: must be the SHA-256 of the key in 64 lowercase hexadecimal digits';
    expect((await parley.run('check')).out).toContain(problem);
    expect((await parley.run('apply')).err).toContain(problem);
    write(`name: ${unique('other')}`, `hash: ${hashOf(writer.key)}`);
    expect((await parley.run('apply', '--adopt')).err).toContain('is that of a key of another caller');
  });
});

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
