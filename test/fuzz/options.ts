import { parseArgs } from 'node:util';

export interface FuzzOptions {
  cases: number;
  seed: number;
  auth: 'api-key' | 'none';
  /** The numbers of the only cases to send; empty: all. */
  only: number[];
  /** Cases under way at once. */
  workers: number;
}

export const USAGE = `npm run fuzz -- [--cases 10000] [--seed S] [--auth api-key|none] [--only 17,23] [--workers 16]

--cases    how many requests to send, over all endpoints
--seed     the cases to repeat; one by chance otherwise
--auth     AUTH_MODE of the service; api-key unless told otherwise
--only     the numbers of cases that failed, to send them alone
--workers  how many cases are under way at once`;

/** @throws Error that says which argument is wrong */
export function readOptions(args: string[]): FuzzOptions {
  const { values } = parseArgs({
    args,
    options: {
      cases: { type: 'string', default: '10000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      auth: { type: 'string', default: 'api-key' },
      only: { type: 'string', default: '' },
      workers: { type: 'string', default: '16' },
    },
  });
  const { auth } = values;
  if (auth !== 'api-key' && auth !== 'none') throw new Error(`--auth must be api-key or none: ${auth}`);
  return {
    cases: whole('cases', values.cases, 1),
    seed: whole('seed', values.seed, 0),
    auth,
    only: values.only === '' ? [] : values.only.split(',').map((text) => whole('only', text, 0)),
    workers: whole('workers', values.workers, 1),
  };
}

function whole(name: string, text: string, least: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  throw new Error(`--${name} must be a whole number from ${least}: ${text}`);
}
