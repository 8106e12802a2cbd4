import { agentMessage, formMessage, type Message, type TaskState, textPart } from '#libs/protocol';
import {
  asksTheSame,
  LOOK_BACKOFF,
  readRemoteLook,
  type RemoteLook,
  remoteLookJob,
  remoteLookOver,
} from './asking-children.js';

const PLACE = { runId: 'r', node: 'e', asked: '1 then', looks: 0, attempt: 1, taskId: 't', agentUrl: 'http://there' };
const REFERENCE = { taskId: 't', contextId: 'c' };
const FORM = { type: 'object', required: ['a'] };
const question = [textPart('Well?')];

const job = (status = 'input-required', asks?: { form: typeof FORM }) =>
  remoteLookJob({ ...PLACE, scope: { tenant: '', owner: 'ann' } }, { status, question, ...(asks && { asks }) });
const lookOf = (...args: Parameters<typeof job>): RemoteLook =>
  readRemoteLook({ ...job(...args).payload }) as RemoteLook;
const task = (state: TaskState, message?: Message) => ({ status: { state, ...(message && { message }) } });
const asked = (text: string): Message => agentMessage(REFERENCE, [textPart(text)]);

describe('a look at a remote Task that asks', () => {
  it.each<[TaskState, Message | undefined]>([
    ['TASK_STATE_COMPLETED', undefined],
    ['TASK_STATE_FAILED', undefined],
    ['TASK_STATE_CANCELED', undefined],
    ['TASK_STATE_REJECTED', undefined],
    ['TASK_STATE_WORKING', undefined],
    ['TASK_STATE_SUBMITTED', undefined],
    ['TASK_STATE_AUTH_REQUIRED', asked('Well?')],
    ['TASK_STATE_INPUT_REQUIRED', asked('And now?')],
  ])('finds that one which is %s has moved on', (state, message) => {
    expect(asksTheSame(lookOf(), task(state, message))).toBe(false);
  });

  it('finds the same question unchanged, also with another id, or without its words', () => {
    expect(asksTheSame(lookOf(), task('TASK_STATE_INPUT_REQUIRED', asked('Well?')))).toBe(true);
    expect(asksTheSame(lookOf(), task('TASK_STATE_INPUT_REQUIRED'))).toBe(true);
    expect(asksTheSame(lookOf('auth-required'), task('TASK_STATE_AUTH_REQUIRED', asked('Well?')))).toBe(true);
    expect(asksTheSame(lookOf(), task('TASK_STATE_UNSPECIFIED' as TaskState))).toBe(true);
  });

  it('compares the form of a question, whatever the order of its members', () => {
    const withForm = (form: object) => formMessage(REFERENCE, question, { form: form as typeof FORM });
    const look = lookOf('input-required', { form: FORM });
    expect(asksTheSame(look, task('TASK_STATE_INPUT_REQUIRED', withForm({ required: ['a'], type: 'object' })))).toBe(
      true,
    );
    expect(asksTheSame(look, task('TASK_STATE_INPUT_REQUIRED', withForm({ type: 'array' })))).toBe(false);
    expect(asksTheSame(look, task('TASK_STATE_INPUT_REQUIRED', asked('Well?')))).toBe(false);
  });

  it('comes after two seconds, then less and less often, up to once in five minutes', () => {
    expect([0, 1, 2, 6, 7, 8, 20, 5_000].map((looks) => LOOK_BACKOFF.pauseAfter(looks, 0))).toEqual([
      2_000, 4_000, 8_000, 128_000, 256_000, 300_000, 300_000, 300_000,
    ]);
    for (const looks of [0, 8])
      expect(LOOK_BACKOFF.pauseAfter(looks, 1)).toBe(0.75 * LOOK_BACKOFF.pauseAfter(looks, 0));
  });

  it('is one job for each node, whose place the end of the question takes', () => {
    expect(remoteLookOver({ runId: 'r', node: 'e' }).key).toBe(job().key);
    expect(readRemoteLook(remoteLookOver({ runId: 'r', node: 'e' }).payload)).toMatchObject({ over: true });
    expect(() => readRemoteLook({ runId: 'r' })).toThrow();
  });

  it('keeps the name of a credential and nothing that the question says', () => {
    const { payload } = remoteLookJob(
      { ...PLACE, scope: { tenant: '', owner: 'ann' }, credential: 'key-of-e' },
      { status: 'auth-required', question: [textPart('a secret word')] },
    );
    expect(payload).toMatchObject({ credential: 'key-of-e', wantsAuth: true });
    expect(JSON.stringify(payload)).not.toContain('secret');
  });
});
