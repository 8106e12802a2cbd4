import { parseArgs } from 'node:util';

export interface ChaosOptions {
  minutes: number;
  /** Of the fault plan. */
  seed: number;
  replicas: number;
  /** The kinds of faults; empty: all. */
  faults: string[];
  /** Own nodes are called over HTTP, through the balancer. */
  http: boolean;
}

export const USAGE = `npm run chaos -- [--minutes 2] [--seed S] [--replicas 3] [--faults kill,database] [--http]

--minutes   how long the faults go on; about one more to recover and to check
--seed      the plan of faults to repeat; one by chance otherwise
--replicas  how many processes share the database
--faults    only these of kill, cut, freeze, sessions, database, terminate
--http      NODE_DISPATCH=http: a run's own nodes are called through the balancer`;

/** @throws Error that says which argument is wrong */
export function readOptions(args: string[]): ChaosOptions {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      replicas: { type: 'string', default: '3' },
      faults: { type: 'string', default: '' },
      http: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: above(0, 'minutes', values.minutes),
    seed: above(-1, 'seed', values.seed),
    replicas: above(1, 'replicas', values.replicas),
    faults: values.faults.split(',').filter((kind) => kind !== ''),
    http: values.http,
  };
}

function above(least: number, name: string, text: string): number {
  const number = Number(text);
  if (!(number > least)) throw new Error(`--${name} must be above ${least}: ${text}`);
  return number;
}
