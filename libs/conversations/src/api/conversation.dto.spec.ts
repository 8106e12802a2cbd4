import { ProblemError, readBody } from '#libs/http-server';
import { disagreements } from '../../../../test/support/documented-body.js';
import { ConversationBody, TurnBody } from './conversation.dto.js';

function refusal(act: () => unknown): ProblemError {
  try {
    act();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('Expected a refusal');
}

describe('ConversationBody', () => {
  it('keeps the very body that was sent', () => {
    const sent = { target: 'critic', message: 'Hello', maxTurns: 2, announce: null };
    const body = readBody(ConversationBody, sent);
    expect(body.sent).toBe(sent);
    expect(body).toMatchObject({ target: 'critic', message: 'Hello', maxTurns: 2 });
  });

  it('is 400 where a field is of the wrong kind, 422 where all are out of their range', () => {
    const wrong = refusal(() => readBody(ConversationBody, { target: 5, message: '', maxTurns: 99 }));
    expect([wrong.status, wrong.errors.map(({ path }) => path)]).toEqual([400, ['target', 'message', 'maxTurns']]);
    const outside = refusal(() => readBody(ConversationBody, { target: 'critic', message: 'x', maxTurns: 99 }));
    expect([outside.status, outside.message]).toEqual([422, 'maxTurns: must be a whole number, from 0 to 20']);
    const long = refusal(() => readBody(ConversationBody, { target: 'critic', message: 'x', timeoutMs: 3_600_001 }));
    expect([long.status, long.message]).toEqual([422, 'timeoutMs: must be a whole number, from 1 to 3600000']);
  });

  it('is 400 with unknown members, each by its path', () => {
    const auth = { target: 'mine', tarket: 'mine' };
    const sent = { target: 'http://critic', message: 'x', maxTurn: 3, constructor: 'x', auth };
    const wrong = refusal(() => readBody(ConversationBody, sent));
    expect([wrong.status, wrong.errors.map(({ path, detail }) => `${path} ${detail}`)]).toEqual([
      400,
      [
        'auth.tarket is none of requester, target, announce',
        'maxTurn is not a field of a conversation',
        'constructor is not a field of a conversation',
      ],
    ]);
  });

  it('takes null for left out, also among the credentials', () => {
    const gaps = { requester: null, maxTurns: null, timeoutMs: null, announce: null, instructions: null };
    const sent = { target: 'http://critic', message: 'x', ...gaps, auth: { requester: null, target: 'mine' } };
    const { sent: _sent, ...body } = readBody(ConversationBody, sent);
    const auth = { target: 'mine' };
    expect(body).toEqual({ target: 'http://critic', message: 'x', maxTurns: 5, timeoutMs: 60_000, auth });
  });

  it.each<[object, string]>([
    [{ target: null }, 'target: is required'],
    [{ target: ' ' }, 'target: must not be empty'],
    [{ target: 'http://a:b@c' }, 'target: must not carry a user name or password'],
    [{ requester: [] }, 'requester: must be the name, the path or the URL of an agent'],
    [{ message: 5 }, 'message: must be a string'],
    [{ message: null }, 'message: is required'],
    [{ maxTurns: '3' }, 'maxTurns: must be a number'],
    [{ auth: 'x' }, 'auth: must be an object: the names of credentials by requester, target, announce'],
    [{ auth: [] }, 'auth: must be an object: the names of credentials by requester, target, announce'],
    [{ auth: { target: 5 } }, 'auth.target: must be the name of a credential'],
    [{ auth: { target: 'mine' } }, 'auth.target: is for a target that is named by its URL'],
    [
      { target: 'https://critic', auth: { announce: 'mine' } },
      'auth.announce: is for a announce that is named by its URL',
    ],
  ])('refuses %j', (fields, message) => {
    const wrong = refusal(() => readBody(ConversationBody, { target: 'critic', message: 'x', ...fields }));
    expect(wrong.message).toContain(message);
  });

  it('takes the time for a turn as it is, up to an hour', () => {
    const limitOf = (timeoutMs?: number) =>
      readBody(ConversationBody, { target: 'critic', message: 'x', ...(timeoutMs && { timeoutMs }) }).timeoutMs;
    expect([limitOf(), limitOf(90_000), limitOf(3_600_000)]).toEqual([60_000, 90_000, 3_600_000]);
  });

  it('is 422 with any other instructions than text and none', () => {
    for (const instructions of ['data', '', 5, {}]) {
      const wrong = refusal(() => readBody(ConversationBody, { target: 'critic', message: 'x', instructions }));
      expect([wrong.status, wrong.message]).toEqual([422, 'instructions: must be text or none']);
    }
    for (const instructions of ['text', 'none', null]) {
      const body = readBody(ConversationBody, { target: 'critic', message: 'x', instructions });
      expect(body.instructions).toBe(instructions ?? undefined);
    }
  });
});

describe('the documentation of ConversationBody', () => {
  it('allows what is taken, and nothing else', async () => {
    const url = 'http://agent.test/a2a';
    const auth = { requester: 'mine', target: 'mine', announce: 'mine' };
    const sample = { requester: url, target: url, announce: url, message: 'x', auth };
    const refused = (body: object): string[] => {
      try {
        readBody(ConversationBody, body);
        return [];
      } catch (error) {
        return error instanceof ProblemError ? error.errors.map(({ path }) => path) : [`${error}`];
      }
    };
    expect(refused(sample)).toEqual([]);
    expect(await disagreements(ConversationBody, { sample, refused })).toEqual([]);
  });
});

describe('TurnBody', () => {
  it.each([
    [{}, 'text: must be a string'],
    [{ text: 5 }, 'text: must be a string'],
    [{ text: ' \n' }, 'text: must not be empty'],
    [{ text: 'Go\0on' }, 'text: must not contain a NUL character'],
    [[], 'the body must be a JSON object'],
  ])('refuses %j', (body, message) => {
    expect(refusal(() => readBody(TurnBody, body))).toMatchObject({ status: 400, message });
  });

  it('is a text', () => {
    expect(readBody(TurnBody, { text: ' Go on ' }).text).toBe(' Go on ');
  });
});
