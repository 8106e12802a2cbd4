// A process of the attacker, with his servers. It takes an order, says when the attack has begun, and ends it when told.
import { type Attack, type Target } from './attack.ts';
import { startHangingHooks, startHostilePeers } from './hostile-peers.ts';
import { ATTACKS, type AttackName } from './index.ts';

/** Command to the process of the attackers: to begin attacks, or to end those that it began. */
export type AttackOrder = { begin: AttackName[]; target: Omit<Target, 'peers' | 'hooks'> } | 'end';

let over = new AbortController();
let work: Promise<unknown> = Promise.resolve();
process.on('message', (order: AttackOrder) => void take(order));
process.once('disconnect', () => process.exit());

async function take(order: AttackOrder): Promise<void> {
  if (order === 'end') {
    over.abort();
    await work;
    process.send?.('ended');
    return;
  }
  over = new AbortController();
  const [peers, hooks] = await Promise.all([startHostilePeers(), startHangingHooks()]);
  const attacks: Attack[] = order.begin.map((name) => ATTACKS[name]);
  work = Promise.all(attacks.map((attack) => attack({ ...order.target, peers, hooks }, over.signal).catch(tell)));
  process.send?.('begun');
}

function tell(error: Error): void {
  process.stderr.write(`An attack failed: ${error.stack}\n`);
}
