import { CalledTask } from '#libs/a2a-client';
import { type Part, statusUpdate, type StreamResponse, type TaskState, textPart } from '#libs/protocol';
import { artifactTexts, readAnswer } from './chat-answer.js';

const NONE = { shown: new Map<string, string>(), updated: new Set<string>() };

/** Returns a Task's state with its last status text and Artifacts, as GetTask returns it. */
function taskWith(state: TaskState, status: string, ...artifacts: [id: string, ...parts: Part[]][]): StreamResponse {
  const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [textPart(status)] };
  return {
    task: {
      id: 't',
      contextId: 'c',
      status: { state, ...(status !== '' && { message }) },
      artifacts: artifacts.map(([artifactId, ...parts]) => ({ artifactId, parts })),
    },
  } as StreamResponse;
}

function read(response: StreamResponse, before: Parameters<typeof readAnswer>[1] = NONE) {
  const answer = new CalledTask();
  answer.applyResponse(response);
  return readAnswer(answer, before);
}

describe('readAnswer', () => {
  it('returns the Artifacts as the answer, and the last status beside it', () => {
    const answer = read(
      taskWith('TASK_STATE_COMPLETED', 'All done', ['a', textPart('one')], ['b', { data: { n: 2 } }]),
    );
    expect(answer).toMatchObject({ text: 'one\n{"n":2}', message: 'All done', artifacts: [{}, {}] });
  });

  it('returns the last status as the answer of a Task without Artifacts', () => {
    expect(read(taskWith('TASK_STATE_COMPLETED', 'tea'))).toEqual({ text: 'tea', state: 'TASK_STATE_COMPLETED' });
  });

  it('leaves out a last status that repeats the Artifacts', () => {
    expect(read(taskWith('TASK_STATE_COMPLETED', 'tea', ['a', textPart('tea')]))).not.toHaveProperty('message');
  });

  it('shows a question after the Artifacts of its turn, and leaves out those of earlier turns', () => {
    const asked = taskWith('TASK_STATE_INPUT_REQUIRED', 'More?', ['a', textPart('old')], ['b', textPart('new')]);
    const shown = artifactTexts([{ artifactId: 'a', parts: [textPart('old')] }]);
    expect(read(asked, { shown, updated: new Set() }).text).toBe('new\nMore?');
    expect(read(asked, { shown, updated: new Set(['a']) }).text).toBe('old\nnew\nMore?');
    const ended = taskWith('TASK_STATE_COMPLETED', '', ['a', textPart('old')]);
    expect(read(ended, { shown, updated: new Set() }).text).toBe('old');
  });

  it('separates the reason of a failure from the Artifacts', () => {
    const failed = read(taskWith('TASK_STATE_FAILED', 'no more tea', ['a', textPart('half')]));
    expect([failed.text, failed.message]).toEqual(['half', 'no more tea']);
    const empty = read(taskWith('TASK_STATE_FAILED', 'no tea'));
    expect([empty.text, empty.message]).toEqual(['no tea', 'no tea']);
  });

  it.each<[string, Part, string]>([
    [
      'a file with content',
      { raw: 'aGVsbG8=', filename: 'a.pdf', mediaType: 'application/pdf' },
      'a.pdf (application/pdf, 5 bytes)',
    ],
    ['a file without a name', { raw: 'aGVsbG8=' }, 'file (5 bytes)'],
    [
      'a file elsewhere',
      { url: 'https://x.test/a', filename: 'a\nb', mediaType: 'text/csv' },
      'a b (text/csv) https://x.test/a',
    ],
    ['a bare URL', { url: 'https://x.test/a' }, 'https://x.test/a'],
  ])('shows %s as one line', (_, part, line) => {
    const answer = read(taskWith('TASK_STATE_COMPLETED', 'Done', ['a', textPart('See '), textPart('this:'), part]));
    expect(answer.text).toBe(`See this:\n${line}`);
  });

  it('reads the newest status of a stream', () => {
    const answer = read(statusUpdate({ taskId: 't', contextId: 'c' }, 'TASK_STATE_REJECTED', 'not here'));
    expect(answer).toMatchObject({ text: 'not here', message: 'not here', state: 'TASK_STATE_REJECTED' });
  });
});
