import { randomBytes } from 'node:crypto';
import type { Part, Task } from '#libs/protocol';
import { rpc, sendParams, sendTask } from '../support/a2a.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { useStage } from '../support/stage.js';
import { takeTurns } from '../support/turns.js';
import { until } from '../support/until.js';
import { digest } from '../support/uploads.js';

takeTurns();

const MEGABYTE = 1_000_000;
/**
 * The characters of all calls of a test are more than this heap holds. A busy machine may take minutes to send a body.
 */
const stage = useStage({
  env: { NODE_OPTIONS: '--max-old-space-size=512', BODY_LIMIT: '32mb', REQUEST_TIMEOUT: '600s' },
});
const CALLS = 4;
/**
 * Number of calls one after the other: more than the heap holds with a stream. Without one they follow in the same heap,
 * and only the answer takes another way.
 */
const callsInTurn = (streaming: boolean): number => (streaming ? CALLS : 2);
/** Ends of a call that found no memory, of the caller's requests or of the agent's answers. */
const NO_MEMORY = /too many large answers|came too slowly|in flight|overloaded|busy/i;

function digestOf(part: Part | undefined): string {
  return digest(Buffer.from(part?.raw ?? '', 'base64'));
}

async function openAgent(streaming: boolean): Promise<{ agent: DoorAgent; base: string }> {
  const agent = await DoorAgent.start({ streaming });
  stage.defer(() => agent.end());
  return { agent, base: (await openDoor(stage.parley.url, agent.url)).base };
}

describe.each([true, false])('files of 20 MB at a registered agent (streaming: %p)', (streaming) => {
  it('pass both ways, one call after the other, in a heap that cannot hold them all', async () => {
    const { agent, base } = await openAgent(streaming);
    for (let call = 0; call < callsInTurn(streaming); call += 1) {
      const bytes = randomBytes(20 * MEGABYTE);
      const task: Task = await sendTask(base, [
        { raw: bytes.toString('base64'), mediaType: 'video/mp4', filename: 'a.mp4' },
      ]);
      expect([task.status.state, task.status.message?.parts[0]?.text]).toEqual(['TASK_STATE_COMPLETED', 'done']);
      expect(digestOf(task.artifacts?.[0]?.parts[0])).toBe(digest(bytes));
      expect(digestOf(agent.heard.splice(0)[0]?.parts[0])).toBe(digest(bytes));
    }
    expect(stage.parley.running()).toBe(true);
  });

  it('are bounded by memory where many come at once, and the service lives on', async () => {
    const { base } = await openAgent(streaming);
    const sendFile = async (): Promise<string> => {
      const part = { raw: randomBytes(20 * MEGABYTE).toString('base64'), mediaType: 'video/mp4' };
      const { status, body } = await rpc<{ task: Task }>(base, 'SendMessage', sendParams([part]));
      const ended = body.result?.task.status;
      if (ended?.state === 'TASK_STATE_COMPLETED') return 'completed';
      const words = ended ? JSON.stringify(ended.message?.parts) : JSON.stringify(body.error ?? body);
      return status === 503 || status === 429 || NO_MEMORY.test(words) ? 'refused' : `${status} ${words}`;
    };
    const ends = await Promise.all(Array.from({ length: CALLS }, sendFile));
    expect(ends).toContain('completed');
    expect(ends.filter((end) => end !== 'completed' && end !== 'refused')).toEqual([]);
    expect(stage.parley.running()).toBe(true);
    // The memory of the calls before may be let go a moment later.
    await until(async () => (await sendFile()) === 'completed', { what: 'a call to find memory again' });
  });
});
