import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { apiKeyEnv, type TestCaller, testCaller } from '../../support/callers.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, input, linear, unique } from '../../support/workflow.js';

takeTurns();

const [mallory, bob] = [testCaller('mallory'), testCaller('bob')];
const TEXT = 'x'.repeat(1_500_000);
/** Each of them adds the text to the log of its run several times, and so to the view of the run. */
const ECHOES = ['first', 'second', 'third', 'fourth'];
/** Characters: several times what the buffers of a connection take unread, 4 MB by default on Linux. */
const LEAST_VIEW = 12_000_000;
/** Megabytes: a view takes some 80 while it is prepared and read, so a second one finds no room in the half of its caller. */
const ROOM = 180;
const stage = useStage({
  env: { ...apiKeyEnv(mallory, bob), ANSWER_LIMIT: `${ROOM}mb`, NODE_OPTIONS: '--max-old-space-size=768' },
});

/** Runs a workflow that repeats a long text at each of its nodes. */
async function endedRun({ headers }: TestCaller): Promise<string> {
  const api = new Api(stage.parley.url, headers);
  const { name } = await api.save(linear(unique('echo'), input('text'), ...ECHOES.map((id) => echo(id))));
  const runId = await api.start(name, { text: TEXT });
  await api.ended(runId);
  return runId;
}

/** Asks for something over a connection of its own, and does not read until it is told to. */
async function unread(path: string): Promise<{ socket: Socket; gone: Promise<void> }> {
  const { hostname, port, host } = new URL(stage.parley.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  socket.pause();
  const head = [`Host: ${host}`, `Authorization: Bearer ${mallory.key}`, 'Connection: close'];
  socket.write(`GET ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
  return { socket, gone };
}

const waiting = (): Promise<number> => metric(stage.parley, 'parley_answers_waiting');
const taken = (): Promise<number> => metric(stage.parley, 'parley_answer_bytes');

describe('callers that do not read the views of their runs', () => {
  it('have half of the room of large answers at most, while another one reads', async () => {
    const [hers, his] = [await endedRun(mallory), await endedRun(bob)];
    const [view, ...others] = ['', '', '', '/nodes/first', '/instances'].map((part) => `/api/runs/${hers}${part}`);
    // The whole view comes first: a smaller answer may fit into the buffers of its connection, and waits for no reader.
    const readers = [await unread(view!)];
    await until(async () => (await taken()) > 0, { what: 'the first view to take its room' });
    readers.push(...(await Promise.all([...others, '/api/runs'].map(unread))));
    const seen: number[] = [];
    const allWait = async (): Promise<boolean> => seen.push(await waiting()) > 0 && seen.at(-1) === readers.length - 1;
    await until(allWait, { what: () => `one view, and others that wait; ${[...new Set(seen)].join(', ')} waited` });
    expect(await taken()).toBeLessThanOrEqual((ROOM / 2) * 1024 ** 2);
    const { text } = await new Api(stage.parley.url, bob.headers).call('GET', `/runs/${his}`);
    expect(text.length).toBeGreaterThan(LEAST_VIEW);
    expect(await waiting()).toBe(readers.length - 1);
    readers.forEach(({ socket }) => socket.resume());
    await Promise.all(readers.map(({ gone }) => gone));
    await until(async () => (await taken()) === 0, { what: 'an empty room' });
    expect(await metric(stage.parley, 'parley_answers_refused_total')).toBe(0);
  });
});
