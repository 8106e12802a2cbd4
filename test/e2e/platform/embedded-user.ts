import 'reflect-metadata';
import { EmbeddedPostgres } from '#libs/postgres';

/** Uses the embedded PostgreSQL of argv[2], which listens as argv[3] says, until a line comes on standard input; then stops and prints `stopped`. */
const server = await EmbeddedPostgres.start({
  dataDir: process.argv[2]!,
  listening: process.argv[3] as 'socket' | 'loopback',
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.once('data', () => {
  void server.stop().then(() => {
    process.stdout.write('stopped\n');
    process.exit(0);
  });
});
