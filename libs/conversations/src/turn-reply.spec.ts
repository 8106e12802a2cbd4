import { CalledTask } from '#libs/a2a-client';
import { failureMetadata, textPart } from '#libs/protocol';
import { isToken, REPLY_SKIP, replyOf, replyText } from './turn-reply.js';

const NOTHING = { reply: undefined, artifacts: [], status: undefined };
const said = (state: 'TASK_STATE_COMPLETED' | 'TASK_STATE_INPUT_REQUIRED', text: string) => ({
  state,
  message: { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [textPart(text)] },
});

describe('replyText', () => {
  it('is the direct Message, else the Artifacts, else the status Message', () => {
    const artifacts = [{ artifactId: 'a', parts: [textPart('artifact')] }];
    const status = said('TASK_STATE_COMPLETED', 'status');
    const reply = { messageId: 'r', role: 'ROLE_AGENT' as const, parts: [textPart('direct')] };
    expect(replyText({ reply, artifacts, status })).toBe('direct');
    expect(replyText({ ...NOTHING, artifacts, status })).toBe('artifact');
    expect(replyText({ ...NOTHING, status })).toBe('status');
    expect(replyText(NOTHING)).toBe('');
  });

  it('is the question of an agent that waits, whatever it made before', () => {
    const artifacts = [{ artifactId: 'a', parts: [textPart('draft')] }];
    expect(replyText({ ...NOTHING, artifacts, status: said('TASK_STATE_INPUT_REQUIRED', 'which?') })).toBe('which?');
  });

  it('joins the chunks of one Artifact, and sets several apart', () => {
    const chunks = { artifactId: 'a', parts: [textPart('Hel'), textPart('lo')] };
    const more = { artifactId: 'b', parts: [textPart('there')] };
    expect(replyText({ ...NOTHING, artifacts: [chunks, more] })).toBe('Hello\n\nthere');
  });

  it('is data as JSON where there is no text at all', () => {
    const artifacts = [{ artifactId: 'a', parts: [{ data: { n: 1 } }] }];
    expect(replyText({ ...NOTHING, artifacts })).toBe('{"n":1}');
    const withText = [{ artifactId: 'a', parts: [{ data: { n: 1 } }, textPart('one')] }];
    expect(replyText({ ...NOTHING, artifacts: withText })).toBe('one');
  });
});

test('A11 a token is the whole text but for the space around it', () => {
  expect(isToken(' REPLY_SKIP \n', REPLY_SKIP)).toBe(true);
  expect(isToken('REPLY_SKIP.', REPLY_SKIP)).toBe(false);
  expect(isToken('reply_skip', REPLY_SKIP)).toBe(false);
});

test.each([
  ['cut', 'ANSWER_CUT'],
  ['server-error', 'AGENT_FAILED'],
  [undefined, 'AGENT_FAILED'],
])('a failed Task whose failure has the kind %s has the code %s', (kind, code) => {
  const metadata = kind === undefined ? {} : failureMetadata({ kind });
  const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [textPart('Error: cut')], metadata };
  const status = { state: 'TASK_STATE_FAILED' as const, message };
  const answer = Object.assign(new CalledTask(), { status });
  const failure = { kind: 'failed' as const, message: 'cut', retryable: false };
  expect(replyOf({ kind: 'failed', answer, failure }, 1_000)).toMatchObject({ failure: { code } });
});
