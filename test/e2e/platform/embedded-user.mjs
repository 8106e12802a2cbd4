import { pathToFileURL } from 'node:url';

/**
 * Uses the embedded PostgreSQL of argv[3], which listens as argv[4] says, until a line comes on standard input; then stops
 * and prints `stopped`. The library is the built one, at argv[2]: its sources and what they import take a second to load.
 */
const [, , library, dataDir, listening] = process.argv;
const { EmbeddedPostgres } = await import(pathToFileURL(library).href);
const server = await EmbeddedPostgres.start({ dataDir, listening });
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.once('data', () => {
  void server.stop().then(() => {
    process.stdout.write('stopped\n');
    process.exit(0);
  });
});
