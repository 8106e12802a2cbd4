import { parseArgs } from 'node:util';

export const AUTH_MODES = ['none', 'api-key', 'jwt'] as const;
export type AuthMode = (typeof AUTH_MODES)[number];

export interface FuzzOptions {
  cases: number;
  seed: number;
  /** Authentication modes that share the cases, one service after the other. */
  auth: readonly AuthMode[];
  /** Numbers of the only cases to send to each service; empty: all cases. */
  only: readonly number[];
  /** Number of concurrent cases. */
  workers: number;
  /** Maximum milliseconds for which the service's event loop may be blocked; 0: no limit. */
  pauseLimit: number;
}

/** Options of the run against one service. */
export interface ServiceOptions extends Omit<FuzzOptions, 'auth'> {
  auth: AuthMode;
  /** Number of the first case. */
  first: number;
}

export const USAGE = `npm run fuzz -- [--cases 10000] [--seed S] [--auth all|none|api-key|jwt] [--only 17,23] [--workers 16]
                [--pause-limit 200]

--cases        how many requests to send, over all endpoints
--seed         the cases to repeat; one by chance otherwise
--auth         AUTH_MODE of the service; all: a third of the cases to a service of each, one after the other
--only         the numbers of cases that failed, to send them alone
--workers      how many cases are under way at once
--pause-limit  how many milliseconds the service's event loop may stand still; 0: that is reported only`;

/** Parses the arguments. @throws Error that names a wrong argument */
export function readOptions(args: string[]): FuzzOptions {
  const { values } = parseArgs({
    args,
    options: {
      cases: { type: 'string', default: '10000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      auth: { type: 'string', default: 'all' },
      only: { type: 'string', default: '' },
      workers: { type: 'string', default: '16' },
      'pause-limit': { type: 'string', default: '200' },
    },
  });
  return {
    cases: whole('cases', values.cases, 1),
    seed: whole('seed', values.seed, 0),
    auth: modes(values.auth),
    only: values.only === '' ? [] : values.only.split(',').map((text) => whole('only', text, 0)),
    workers: whole('workers', values.workers, 1),
    pauseLimit: whole('pause-limit', values['pause-limit'], 0),
  };
}

/** Splits the cases into one share for each mode, so that no two services get the same cases. */
export function shares({ auth, cases, ...options }: FuzzOptions): ServiceOptions[] {
  const from = (share: number): number => Math.floor((cases * share) / auth.length);
  return auth.map((mode, share) => {
    const first = from(share);
    return { ...options, auth: mode, first, cases: from(share + 1) - first };
  });
}

function modes(text: string): readonly AuthMode[] {
  if (text === 'all') return AUTH_MODES;
  const mode = AUTH_MODES.find((it) => it === text);
  if (mode) return [mode];
  throw new Error(`--auth must be all, ${AUTH_MODES.join(', ')}: ${text}`);
}

function whole(name: string, text: string, least: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  throw new Error(`--${name} must be a whole number from ${least}: ${text}`);
}
