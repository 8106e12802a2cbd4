import type { Server } from 'node:http';

/** Reports the address of a server to the benchmark, and ends this process when the benchmark ends. */
export function announce(server: Server): void {
  const tell = (): void => {
    const address = server.address();
    if (address !== null && typeof address === 'object') {
      process.stdout.write(`ready http://127.0.0.1:${address.port}\n`);
    }
  };
  if (server.listening) tell();
  else server.once('listening', tell);
  process.on('disconnect', () => process.exit());
}
