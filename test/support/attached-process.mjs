import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a script in a child process until this process ends, even by `kill -9`: the script watches its standard input.
 * Returns the first line that the script prints.
 * @param args arguments of Node, including the script
 * @param what name of the script in the error if it does not start
 */
export async function attach(args, what) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const line = await Promise.race([firstLine(child.stdout, what), failure(child, what)]);
  child.stdout.destroy();
  child.stdin.unref();
  child.unref();
  return line;
}

async function firstLine(stream, what) {
  let text = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
  }
  throw new Error(`${what} said nothing`);
}

async function failure(child, what) {
  const [code] = await once(child, 'exit');
  throw new Error(`${what} did not start (exit ${code})`);
}
