import { createServer } from 'node:http';
import { announce } from '../serve.ts';
import type { Shape } from './shape.ts';

/**
 * Serves runs: each request executes one run of the graph that its path names, and is answered with `done` when the run
 * has ended.
 */
export function serveRuns(runs: Record<Shape, () => Promise<unknown>>): void {
  const server = createServer((request, response) => {
    request.resume();
    runs[request.url === '/fan' ? 'fan' : 'chain']().then(
      () => response.end('done'),
      (error: Error) => response.writeHead(500).end(String(error.stack)),
    );
  });
  announce(server.listen(0, '127.0.0.1'));
}
