import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { giveBack, lend, type Lent } from '../../support/shared-stage.js';
import { before, until } from '../../support/until.js';

const WELL = { written: expect.any(String) };

/** Whether it answers that it is ready. */
const isWell = ({ url }: Lent): Promise<boolean> =>
  fetch(`${url}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );

async function speaksGrpc({ url }: Lent): Promise<boolean> {
  const card = await fetch(`${url}/.well-known/agent-card.json`);
  return (await card.text()).includes('"GRPC"');
}

async function kill(service: Lent): Promise<void> {
  process.kill(service.pid, 'SIGKILL');
  await until(async () => !(await isWell(service)), { what: 'its end' });
}

describe('a service that test files share', () => {
  let lenderProcess: ChildProcess;
  let lender: string;

  beforeAll(async () => {
    const support = join(import.meta.dirname, '../../support');
    const hooks = ['--import', join(support, 'typescript-hooks.mjs')];
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    lenderProcess = spawn(process.execPath, [...hooks, join(support, 'shared-services.ts')], { stdio: [...stdio] });
    const lines = createInterface({ input: lenderProcess.stdout! });
    [lender] = (await before(once(lines, 'line'), { what: 'the lender' })) as [string];
  });

  it('is lent to one at a time', async () => {
    const [one, other] = await Promise.all([lend({}, lender), lend({}, lender)]);
    expect(one.url).not.toBe(other.url);
    expect(await Promise.all([isWell(one), isWell(other)])).toEqual([true, true]);
    expect(await Promise.all([giveBack(one.lease, lender), giveBack(other.lease, lender)])).toEqual([WELL, WELL]);
    const again = await lend({}, lender);
    expect([one.url, other.url]).toContain(again.url);
    await giveBack(again.lease, lender);
  });

  it('has the environment that is asked for, and goes to nobody who asks for another', async () => {
    const env = { GRPC_PORT: '0' };
    const [usual, other] = await Promise.all([lend({}, lender), lend({ env }, lender)]);
    expect(await Promise.all([speaksGrpc(usual), speaksGrpc(other)])).toEqual([false, true]);
    await Promise.all([giveBack(usual.lease, lender), giveBack(other.lease, lender)]);
    const [otherAgain, usualAgain] = [await lend({ env }, lender), await lend({}, lender)];
    expect(otherAgain.url).toBe(other.url);
    expect(await speaksGrpc(usualAgain)).toBe(false);
    await Promise.all([giveBack(usualAgain.lease, lender), giveBack(otherAgain.lease, lender)]);
  });

  it('is told to whoever left it unwell, and lent to nobody after that', async () => {
    const broken = await lend({}, lender);
    await kill(broken);
    expect((await giveBack(broken.lease, lender)).unwell).toMatch(/^The service /);
    const next = await lend({}, lender);
    expect(next.url).not.toBe(broken.url);
    expect(await isWell(next)).toBe(true);
    await giveBack(next.lease, lender);
  });

  it('is not lent where it fell ill while nobody had it', async () => {
    const ill = await lend({}, lender);
    expect(await giveBack(ill.lease, lender)).toEqual(WELL);
    await kill(ill);
    const next = await lend({}, lender);
    expect(next.url).not.toBe(ill.url);
    expect(await isWell(next)).toBe(true);
    await giveBack(next.lease, lender);
  });

  it('ends with whoever runs the tests', async () => {
    const lent = await lend({}, lender);
    lenderProcess.stdin?.end();
    await before(once(lenderProcess, 'exit'), { what: 'the end of the lender' });
    expect(await isWell(lent)).toBe(false);
  });
});
