import { createServer } from 'node:http';
import { announce } from '../serve.ts';
import type { Shape } from './shape.ts';

/** Makes one run per request, of the graph that its path names, and answers `done` when it has ended. */
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
