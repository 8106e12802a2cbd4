import { SpokenDialects } from './dialect-transport.js';

describe('SpokenDialects', () => {
  it('remember a thousand agents at most, those that answered last', () => {
    const dialects = new SpokenDialects(60_000);
    for (let n = 0; n <= 1_000; n += 1) dialects.set(`http://a.test/${n}`, 'pre-1.0');
    expect([dialects.get('http://a.test/0'), dialects.get('http://a.test/1000')]).toEqual([undefined, 'pre-1.0']);
    dialects.delete('http://a.test/1000');
    expect(dialects.get('http://a.test/1000')).toBeUndefined();
  });

  it('remember nothing where cards are kept for no time', () => {
    const dialects = new SpokenDialects(0);
    dialects.set('http://a.test', 'pre-1.0');
    expect(dialects.get('http://a.test')).toBeUndefined();
  });
});
