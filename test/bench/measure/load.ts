import { Client } from 'undici';

export interface LoadOptions {
  url: string;
  connections: number;
  seconds: number;
  /** The request of a given number; the body is sent as it is. */
  request(number: number): { path: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string };
  /** Throws where an answer is not what it must be. */
  check(status: number, body: string): void;
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  max: number;
}

/** Keeps one request in flight on each connection for a time. An answer that fails its check ends the run. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { origin } = new URL(options.url);
  const clients = Array.from({ length: options.connections }, () => new Client(origin, { pipelining: 1 }));
  const latencies: number[] = [];
  const begun = performance.now();
  const end = begun + options.seconds * 1000;
  let number = 0;
  const loop = async (client: Client): Promise<void> => {
    while (performance.now() < end) {
      const started = performance.now();
      const { path, method = 'POST', headers, body } = options.request((number += 1));
      const answer = await client.request({ path, method, headers, body });
      options.check(answer.statusCode, await answer.body.text());
      latencies.push(performance.now() - started);
    }
  };
  try {
    await Promise.all(clients.map(loop));
  } finally {
    await Promise.all(clients.map((client) => client.destroy()));
  }
  const seconds = (performance.now() - begun) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { requests: latencies.length, seconds, p50: at(0.5), p99: at(0.99), max: latencies.at(-1) ?? 0 };
}
