import { decodedText } from './built-in-tools.js';

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const utf16le = (text: string): Uint8Array => Buffer.from(text, 'utf16le');
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('the text of an answer', () => {
  it.each<[string, Uint8Array, string, string]>([
    ['ISO-8859-1', latin1('José'), 'text/plain; charset=ISO-8859-1', 'José'],
    ['a quoted set', latin1('José'), 'text/plain; charset="iso-8859-1"', 'José'],
    ['ISO-8859-15', bytes(0xa4), 'text/plain;charset=ISO-8859-15', '€'],
    ['windows-1251', bytes(0xcf, 0xf0, 0xe8), 'text/html; Charset=windows-1251', 'При'],
    ['GBK', bytes(0xc4, 0xe3, 0xba, 0xc3), 'text/html; charset=gbk', '你好'],
    ['Shift_JIS', bytes(0x93, 0xfa, 0x96, 0x7b), 'text/plain; charset=Shift_JIS', '日本'],
    ['UTF-16', utf16le('día'), 'text/plain; charset=utf-16', 'día'],
    ['JSON in ISO-8859-1', latin1('{"a":"é"}'), 'application/json; charset=iso-8859-1', '{"a":"é"}'],
    ['UTF-16 by its mark', Buffer.concat([bytes(0xff, 0xfe), utf16le('día')]), 'text/plain', 'día'],
    ['big-endian UTF-16 by its mark', bytes(0xfe, 0xff, 0, 0x61), 'text/plain; charset=utf-8', 'a'],
    ['UTF-8', Buffer.from('día 😀'), 'text/plain; charset=utf-8', 'día 😀'],
    ['no set', Buffer.from('día'), 'text/plain', 'día'],
    ['no type', Buffer.from('día'), '', 'día'],
    ['the mark of UTF-8', Buffer.from('\ufeffdía'), 'text/plain; charset=iso-8859-1', 'día'],
    ['an unknown set', Buffer.from('día'), 'text/plain; charset=klingon', 'día'],
    [
      'a page',
      latin1('<html><head><META charset=iso-8859-1></head>é'),
      'text/html',
      '<html><head><META charset=iso-8859-1></head>é',
    ],
    [
      'a page of HTML 4',
      latin1('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">é'),
      'text/html',
      '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">é',
    ],
    ['a page that says UTF-16', Buffer.from('<meta charset="utf-16">é'), 'text/html', '<meta charset="utf-16">é'],
    ['a text about a page', Buffer.from('<meta charset="iso-8859-1">é'), 'text/plain', '<meta charset="iso-8859-1">é'],
    ['bytes that are no text', bytes(0x61, 0xff, 0x62), 'text/plain', 'a\ufffdb'],
  ])('is read with %s', (_what, body, contentType, text) => {
    expect(decodedText(body, contentType)).toBe(text);
  });
});
