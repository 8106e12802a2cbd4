// The process that makes load, apart from the one that measures, so that its CPU is nobody else's.
import { closedLoop, type LoadJob } from './closed-loop.ts';
import { StreamReaders, type StreamsJob } from './stream-readers.ts';

export type Order =
  | { kind: 'load'; job: LoadJob }
  | { kind: 'open'; job: StreamsJob }
  | { kind: 'deliver'; request: { path: string; body: string; headers?: Record<string, string> }; needle: string }
  | { kind: 'close' };

let readers: StreamReaders | undefined;

process.on('message', (order: Order) => {
  execute(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());

async function execute(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'load':
      return closedLoop(order.job);
    case 'open':
      readers = await StreamReaders.open(order.job);
      return undefined;
    case 'deliver':
      return readers?.deliver(order.request, order.needle);
    case 'close':
      readers?.close();
      return undefined;
  }
}
