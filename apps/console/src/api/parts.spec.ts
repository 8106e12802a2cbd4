import { joinedParts, partsText } from './parts.js';

describe('Parts', () => {
  it('that are texts in a row are one text, in the order in which they came', () => {
    expect(joinedParts([{ text: '# Du' }, { text: 'rable\n' }, { data: 1 }, { text: 'end' }])).toEqual([
      { text: '# Durable\n' },
      { data: 1 },
      { text: 'end' },
    ]);
  });

  it('stay apart where they are of another kind, or a file of their own', () => {
    const parts = [
      { text: 'a', mediaType: 'text/plain' },
      { text: 'b', mediaType: 'text/csv' },
      { text: 'c', mediaType: 'text/csv', filename: 'c.csv' },
    ];
    expect(joinedParts(parts)).toEqual(parts);
  });

  it('are copied as what they say', () => {
    const parts = [{ text: 'Hel' }, { text: 'lo' }, { data: { a: 1 } }, { raw: 'AA==', filename: 'a.bin' }];
    expect(partsText(parts)).toBe('Hello\n{"a":1}\na.bin');
  });
});
