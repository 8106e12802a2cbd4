import type { A2aStreamItem } from '../api/task.js';
import { type Chat, getContinuation, EMPTY_CHAT, isAtWork, withAnswer, withMessage } from './chat.js';

const ids = { taskId: 't', contextId: 'c' };
const status = (state: string, text?: string): A2aStreamItem => ({
  statusUpdate: {
    ...ids,
    status: { state, ...(text && { message: { messageId: text, role: 'ROLE_AGENT', parts: [{ text }] } }) },
  },
});
const chunk = (text: string, append: boolean): A2aStreamItem => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text }] }, append },
});
const after = (...items: A2aStreamItem[]): Chat => items.reduce(withAnswer, EMPTY_CHAT);
const texts = ({ entries }: Chat) => entries.map(({ parts }) => parts.map(({ text }) => text).join('|'));

describe('a chat', () => {
  it('joins the pieces of an Artifact, and replaces one that is sent again', () => {
    expect(texts(after(chunk('Hel', false), chunk('lo', true)))).toEqual(['Hello']);
    expect(texts(after(chunk('Hello', false), chunk('Bye', false)))).toEqual(['Bye']);
  });

  it('shows once what an agent makes and says again at its end', () => {
    const made = [chunk('Hel', false), chunk('lo', true)];
    expect(texts(after(...made, status('TASK_STATE_COMPLETED', 'Hello')))).toEqual(['Hello']);
    expect(texts(after(...made, status('TASK_STATE_COMPLETED', 'That is all')))).toEqual(['Hello', 'That is all']);
    expect(texts(after(...made, status('TASK_STATE_INPUT_REQUIRED', 'Hello')))).toEqual(['Hello', 'Hello']);
  });

  it('shows a Message once, also where the Task and its update both bring it', () => {
    expect(texts(after(status('TASK_STATE_WORKING', 'on it'), status('TASK_STATE_WORKING', 'on it')))).toEqual([
      'on it',
    ]);
  });

  it('goes on in the Task that waits, and else in the context', () => {
    expect(getContinuation(after(status('TASK_STATE_INPUT_REQUIRED', 'which one?')))).toEqual(ids);
    expect(getContinuation(after(status('TASK_STATE_COMPLETED')))).toEqual({ contextId: 'c' });
    expect(getContinuation(EMPTY_CHAT)).toEqual({});
  });

  it('forgets the Task where the agent answers with a Message', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }], contextId: 'd' };
    const chat = withAnswer(after(status('TASK_STATE_INPUT_REQUIRED')), { message });
    expect(getContinuation(chat)).toEqual({ contextId: 'd' });
    expect(chat.entries.at(-1)).toMatchObject({ from: 'agent', parts: [{ text: 'hi' }] });
  });

  it('takes a whole Task with its Artifacts', () => {
    const task = {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING' },
      artifacts: [{ artifactId: 'a', name: 'answer', parts: [{ data: 1 }] }],
    };
    const chat = after({ task });
    expect(chat.entries).toEqual([{ key: 't/a', from: 'agent', name: 'answer', parts: [{ data: 1 }] }]);
    expect(isAtWork(chat)).toBe(true);
  });

  it('keeps what the person said', () => {
    const chat = withMessage(EMPTY_CHAT, { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] });
    expect(chat.entries).toEqual([{ key: 'm', from: 'person', parts: [{ text: 'hello' }] }]);
  });
});
