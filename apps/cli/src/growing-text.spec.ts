import { artifactUpdate, type Part, statusUpdate, type StreamResponse, textPart } from '#libs/protocol';
import { GrowingText } from './chat-session.js';

const REFERENCE = { taskId: 't', contextId: 'c' };

function chunk(artifactId: string, append: boolean, ...parts: (string | Part)[]): StreamResponse {
  const made = parts.map((part) => (typeof part === 'string' ? textPart(part) : part));
  return artifactUpdate(REFERENCE, { artifactId, parts: made }, { append });
}

function pieces(...responses: StreamResponse[]): string[] {
  const text = new GrowingText();
  return responses.map((response) => text.nextPiece(response));
}

describe('GrowingText', () => {
  it('gives what an Artifact grows by, with its beginning', () => {
    const working = statusUpdate(REFERENCE, 'TASK_STATE_WORKING', 'busy');
    const grown = pieces(chunk('a', false, 'one '), working, chunk('a', true, 'two ', 'three'), chunk('a', true, '!'));
    expect(grown).toEqual(['', '', 'one two three', '!']);
  });

  it('gives nothing of what comes whole', () => {
    expect(pieces(chunk('a', false, 'one'), chunk('b', false, 'two'))).toEqual(['', '']);
  });

  it('goes on with an Artifact that was begun before', () => {
    expect(pieces(chunk('old', true, 'more'))).toEqual(['more']);
  });

  it.each([
    ['begins anew', chunk('a', false, 'other')],
    ['is followed by another one', chunk('b', true, 'other')],
    ['gets something that is no text', chunk('a', true, { data: { n: 1 } })],
  ])('gives no more of one that %s', (_, response) => {
    const begun = [chunk('a', false, 'one '), chunk('a', true, 'two')];
    expect(pieces(...begun, response, chunk('a', true, 'three'))).toEqual(['', 'one two', '', '']);
  });
});
