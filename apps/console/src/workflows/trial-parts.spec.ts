import { partsOfText, textOfParts } from './trial-parts.js';

describe('the input of a trial', () => {
  it.each([
    [[{ text: 'hello' }]],
    [[{ data: { a: 1 } }]],
    [[{ text: 'hello' }, { url: 'https://example.com/a.png', mediaType: 'image/png' }]],
  ])('is the same Parts after a person has seen it: %j', (parts) => {
    expect(partsOfText(textOfParts(parts))).toEqual(parts);
  });

  it('is a text unless it is a list of Parts', () => {
    for (const text of ['', '[1, 2]', '[]', '{"text":"x"}', '[{"no":"part"}]'])
      expect(partsOfText(text)).toEqual([{ text }]);
  });
});
