import { connect } from 'node:net';
import type { JsonObject, Task } from '#libs/protocol';
import { firstText, sendTask, subscribe } from '../support/a2a.js';
import { answers } from '../support/fake-behaviour.js';
import { ids, range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { diamond, echo, external, input, linear, output, type Run, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
/** How long 200 runs at a time may take a busy machine: a safety net, in seconds. */
const PATIENCE = 500;

describe('isolation', () => {
  it("C16 200 runs in parallel: none sees another's data", async () => {
    const fake = await stage.fake();
    fake.always((call) => ({ delay: 20, then: answers(`remote ${call.text}`) }));
    const workflow = await stage.api.save(
      diamond(
        unique('many'),
        input('in'),
        [external('e', fake.url, { prompt: '{{in}}', timeout: PATIENCE }), echo('a', { prompt: 'local {{in}}' })],
        output('out', { prompt: '{{e}} / {{a}}' }),
      ),
    );
    const marks = range(1, 200).map((n) => `mark-${n}-${unique('x')}`);
    const started = await Promise.all(marks.map((mark) => stage.api.start(workflow.name, { in: mark })));
    const runs: Run[] = [];
    // One at a time: two hundred who ask again and again would be the load that the runs have to pass.
    for (const runId of started) runs.push(await stage.api.ended(runId, PATIENCE * 1000));
    expect(new Set(started).size).toBe(200);
    expect(new Set(runs.map(({ contextId }) => contextId)).size).toBe(200);
    runs.forEach((run, index) => {
      const mark = marks[index] ?? '';
      const others = JSON.stringify(run)
        .match(/mark-\d+-x_[0-9a-f]+/g)
        ?.filter((it) => it !== mark);
      expect({ mark, status: run.status, result: run.result?.[0]?.parts[0]?.text, others }).toEqual({
        mark,
        status: 'completed',
        result: `remote ${mark} / local ${mark}`,
        others: [],
      });
    });
    expect(fake.sends).toHaveLength(200);
    const samples = await Promise.all(started.slice(0, 20).map(async (runId) => (await stage.api.events(runId)).all()));
    samples.forEach((frames, index) => {
      expect(ids(frames)).toEqual(range(1, frames.length));
      expect(new Set(frames.map(({ raw }) => raw.match(/mark-\d+-x_[0-9a-f]+/)?.[0]).filter(Boolean))).toEqual(
        new Set([marks[index]]),
      );
    });
  });

  it('200 blocking Messages to one node in parallel each get their own answer', async () => {
    const workflow = await stage.api.save(linear(unique('many'), echo('a')));
    const texts = range(1, 200).map((n) => `text ${n}`);
    const tasks = await Promise.all(texts.map((text) => sendTask(stage.api.base(workflow.name, 'a'), text)));
    expect(tasks.map((task) => firstText(task))).toEqual(texts);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(200);
  });

  it('a client that stops reading changes nothing for the others or for the run', async () => {
    const steps = range(1, 300).map((n) => ({
      artifact: { artifactId: 'a', append: n > 1, parts: [{ text: `${n}:{{text}}` }] },
    }));
    const workflow = await stage.api.save(
      linear(unique('deaf'), script('a', { status: 'working' }, { sleep: 300 }, ...steps, { complete: 'done' })),
    );
    const base = stage.api.base(workflow.name, 'a');
    const task = await sendTask(base, 'x'.repeat(40_000), { configuration: { returnImmediately: true } });
    const deaf = range(1, 10).map(() => unread(base, task));
    const reader = await subscribe(base, task.id, 0);
    const frames = await reader.all();
    const sequences = ids(frames.filter(({ data }) => data.result !== undefined && !('task' in data.result)));
    expect(sequences).toEqual(range(sequences[0] ?? 0, sequences.at(-1) ?? 0));
    expect(frames.filter(({ data }) => data.result !== undefined && 'artifactUpdate' in data.result)).toHaveLength(300);
    expect((await stage.api.finish(linear(unique('deaf'), echo('a')))).status).toBe('completed');
    deaf.forEach((socket) => socket.destroy());
    expect((await fetch(`${stage.parley.url}/health/live`)).status).toBe(200);
  });

  it('a hundred readers that come and go change nothing for the run', async () => {
    const steps = range(1, 30).flatMap((): JsonObject[] => [{ status: 'working' }, { sleep: 20 }]);
    const workflow = await stage.api.save(
      linear(unique('come'), script('a', ...steps, { complete: 'done' }), output('out')),
    );
    const runId = await stage.api.start(workflow.name);
    await Promise.all(
      range(1, 100).map(async () => {
        const reader = await stage.api.events(runId);
        await reader.next();
        reader.abort();
      }),
    );
    const run = await stage.api.ended(runId);
    const frames = await (await stage.api.events(runId)).all();
    expect(run.status).toBe('completed');
    expect(ids(frames)).toEqual(range(1, frames.length));
  });
});

/** Asks for a Task's whole log over a connection of its own and never reads a byte of it. */
function unread(base: string, task: Task): ReturnType<typeof connect> {
  const { hostname, port, pathname } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.pause();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: task.id } });
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nA2A-Version: 1.0\r\nLast-Event-ID: 0\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return socket;
}
