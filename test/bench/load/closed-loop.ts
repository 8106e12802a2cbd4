import { HttpExchange } from './http-exchange.ts';

/** Request that is sent repeatedly. */
export interface RequestTemplate {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  /** Body. Each run of 12 `#` is replaced by the request's number, padded with zeros. */
  body: string;
  /** Text that every answer must contain. */
  expect: string;
  /** Status that every answer must have; absent: 200. */
  status?: number;
  /** Status of refusals, which are counted apart; absent: a refusal is a wrong answer. */
  refusal?: number;
  /** Numbers of requests: a cycle through 0 … modulo-1 with this stride; absent: 0, 1, 2, … */
  numbers?: { modulo: number; stride: number };
}

export interface LoadJob {
  url: string;
  /** URLs of several servers over which connections are spread. */
  urls?: string[];
  connections: number;
  seconds: number;
  template: RequestTemplate;
  /** Maximum number of requests per second over all connections; absent: as many as are answered. */
  rate?: number | undefined;
}

export interface LoadResult {
  requests: number;
  /** Number of requests among them that were refused. */
  refused?: number;
  seconds: number;
  /** Median latency in milliseconds. */
  p50: number;
  p99: number;
  max: number;
}

export const NUMBER_MARK = '############';
const ANSWER_WITHIN_MS = 60_000;
let counted = 0;

/**
 * Keeps one request in flight on each connection for a time, then waits for the last answers.
 * @throws Error for a wrong answer
 */
export async function closedLoop(job: LoadJob): Promise<LoadResult> {
  const latencies: number[] = [];
  const expected = Buffer.from(job.template.expect);
  const { status: wanted = 200, refusal } = job.template;
  let refused = 0;
  const check = (status: number, text: Buffer): void => {
    if (status === refusal) refused += 1;
    else if (status !== wanted || !text.includes(expected)) throw new Error(`Unexpected answer: ${text.toString()}`);
  };
  const exchanges = Array.from({ length: job.connections }, (_, index) => {
    const { urls = [job.url] } = job;
    const { hostname, port } = new URL(urls[index % urls.length] ?? job.url);
    return new HttpExchange(hostname, Number(port), check);
  });
  const begun = performance.now();
  const until = begun + job.seconds * 1000;
  const late = new Late();
  try {
    await Promise.race([Promise.all(exchanges.map((one) => loop(one, job, until, latencies))), late.after(until)]);
  } finally {
    late.clear();
    for (const one of exchanges) one.close();
  }
  return { ...summary(latencies, (performance.now() - begun) / 1000), refused };
}

export function summary(latencies: number[], seconds: number): LoadResult {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { requests: sorted.length, seconds, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

function loop(exchange: HttpExchange, job: LoadJob, until: number, latencies: number[]): Promise<void> {
  const request = new NumberedRequest(job);
  const pause = job.rate === undefined ? 0 : (job.connections * 1000) / job.rate;
  // Connections take turns.
  let due = performance.now() + Math.random() * pause;
  return new Promise((resolve, reject) => {
    let started = 0;
    const send = (): void => {
      started = performance.now();
      exchange.send(request.next(), next);
    };
    const next = (error: Error | undefined): void => {
      const now = performance.now();
      if (error) return reject(error);
      if (started > 0) latencies.push(now - started);
      if (now >= until) return resolve();
      if (now >= due) send();
      else setTimeout(send, due - now);
      due = Math.max(due + pause, now);
    };
    next(undefined);
  });
}

/** Bytes of a request, in which only the number changes. */
class NumberedRequest {
  private readonly bytes: Buffer;
  private readonly places: number[] = [];
  private readonly numbers: RequestTemplate['numbers'];

  constructor({ url, template }: LoadJob) {
    const { method, path, headers, body } = template;
    const all = { host: new URL(url).host, ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    this.bytes = Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'));
    this.numbers = template.numbers;
    let at = this.bytes.indexOf(NUMBER_MARK);
    while (at >= 0) {
      this.places.push(at);
      at = this.bytes.indexOf(NUMBER_MARK, at + NUMBER_MARK.length);
    }
  }

  /**
   * Returns the bytes of the next request. They are valid until the next call, so the answer must have arrived by then.
   */
  next(): Buffer {
    if (this.places.length === 0) return this.bytes;
    counted += 1;
    const number = this.numbers ? (counted * this.numbers.stride) % this.numbers.modulo : counted;
    const digits = String(number).padStart(NUMBER_MARK.length, '0');
    for (const place of this.places) this.bytes.write(digits, place, 'latin1');
    return this.bytes;
  }
}

/** Timer that fails the benchmark if a server does not answer in time. */
class Late {
  private timer: NodeJS.Timeout | undefined;

  after(until: number): Promise<never> {
    return new Promise((_resolve, reject) => {
      const wait = until - performance.now() + ANSWER_WITHIN_MS;
      this.timer = setTimeout(() => reject(new Error(`No answer within ${ANSWER_WITHIN_MS / 1000} s`)), wait);
    });
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}
