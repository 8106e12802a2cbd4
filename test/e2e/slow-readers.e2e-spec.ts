import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { JsonObject } from '#libs/protocol';
import { sendTask, subscribe, VERSION } from '../support/a2a.js';
import { ids, range } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { takeTurns } from '../support/turns.js';
import { until } from '../support/until.js';
import { onLinux } from '../support/on-linux.js';
import { script, unique } from '../support/workflow.js';

takeTurns();

/** A heap, in megabytes, that what follows fits in, and what would be kept for the readers does not. */
const HEAP = 192;
const stage = useStage({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP}` } });
const CHUNK = 'x'.repeat(100_000);
const CHUNKS = 300;
/** The accepted Task, WORKING, the chunks and COMPLETED. */
const LAST = CHUNKS + 3;
const STALLED = 12;

describe('readers that take nothing', () => {
  // What the service did to a connection that nobody reads from is seen nowhere but in the kernel's table.
  onLinux('cost no memory, disturb nobody, are cut, and go on where they were', async () => {
    const base = await speaker();
    const task = await sendTask(base, CHUNK, { configuration: { returnImmediately: true } });
    const stalled = await Promise.all(range(1, STALLED).map(() => stall(base, task.id)));
    const reader = await subscribe(base, task.id, 0);
    expect(ids(await reader.all())).toEqual(range(1, LAST));
    await until(() => stalled.every((response) => !isHeldOpen(response)), {
      what: 'the readers to be cut',
    });
    for (const response of stalled.slice(0, 2)) {
      const seen = await rest(response);
      expect(seen).toEqual(range(1, seen.length));
      expect(seen.length).toBeLessThan(LAST);
      const [snapshot, ...missed] = ids(await (await subscribe(base, task.id, seen.length)).all());
      expect([snapshot, ...missed]).toEqual(range(seen.length, LAST));
    }
    stalled.forEach((response) => response.destroy());
  });
});

/** An agent that waits for its readers, and then says thirty megabytes. */
async function speaker(): Promise<string> {
  const name = unique('slow');
  const chunk: JsonObject = { artifact: { artifactId: 'a', append: true, parts: [{ text: '{{text}}' }] } };
  const first: JsonObject = { artifact: { artifactId: 'a', parts: [{ text: '{{text}}' }] } };
  const chunks = range(2, CHUNKS).map(() => chunk);
  const steps = [{ status: 'working' }, { sleep: 1_500 }, first, ...chunks, { complete: 'done' }];
  await stage.api.save({ name, nodes: [script('a', ...steps)], edges: [] });
  return stage.api.base(name, 'a');
}

/** Opens a stream and reads nothing of it. */
async function stall(base: string, taskId: string): Promise<IncomingMessage> {
  const request = get(`${base}/tasks/${taskId}:subscribe?since=0`, { headers: VERSION, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.pause();
  return response;
}

/** Reads what was sent before the stream was cut: the ids of its whole frames. */
async function rest(response: IncomingMessage): Promise<number[]> {
  let text = '';
  try {
    for await (const part of response) text += String(part);
  } catch {
    // It ends in the middle.
  }
  const frames = text.split('\n\n').slice(0, -1);
  return frames.flatMap((frame) => /^id: (\d+)$/m.exec(frame)?.[1] ?? []).map(Number);
}

/** Whether the service's end of the connection is still open. */
function isHeldOpen({ socket }: IncomingMessage): boolean {
  const [service, reader] = [socket.remotePort, socket.localPort].map((port) => hex(port ?? 0));
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.some((line) => new RegExp(`^ *\\d+: \\w+:${service} \\w+:${reader} 01 `).test(line));
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
