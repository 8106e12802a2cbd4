// An S3 server in a process of its own: `server.mjs DIRECTORY BUCKET PORT`. Tells its port over IPC, and ends with its
// parent. It refuses a signature that it would not have made; its one key is S3RVER with the secret S3RVER.
import S3Server from '@20minutes/s3rver';

const [directory, bucket, port] = process.argv.slice(2);
const server = new S3Server({
  address: '127.0.0.1',
  port: Number(port),
  silent: true,
  directory,
  configureBuckets: [{ name: bucket }],
});
process.once('disconnect', () => process.exit(0));
const address = await server.run();
process.send({ port: address.port });
