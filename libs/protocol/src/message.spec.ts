import { joinedText, type Part } from './message.js';

describe('the text of Parts', () => {
  test.each<[Part[], string | undefined]>([
    [[], undefined],
    [[{ data: 1 }], undefined],
    [[{ text: 'one' }], 'one'],
    [[{ text: 'fake: ' }, { text: 'hello ' }, { text: 'Ada' }], 'fake: hello Ada'],
    [[{ data: 1 }, { text: 'a' }, { text: 'b' }, { url: 'x:y' }, { text: 'c' }], 'ab'],
    [[{ text: '' }, { text: 'b' }], 'b'],
    [[{ text: '' }, { data: 1 }, { text: 'b' }], ''],
  ])('of %j is %j', (parts, text) => expect(joinedText(parts)).toBe(text));
});
