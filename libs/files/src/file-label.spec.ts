import { attachmentNamed, fileLabel, harmlessMediaType, sentFileName } from './file-label.js';

describe('fileLabel', () => {
  it('takes the name and the media type that were sent', () => {
    const sent = { name: 'Bericht für Ann.pdf', mediaType: 'text/plain; charset="utf-8"' };
    expect(fileLabel(sent, 'file')).toEqual(sent);
  });

  it('calls a file without a name file, and takes its content for bytes', () => {
    expect(fileLabel({}, 'file')).toEqual({ name: 'file', mediaType: 'application/octet-stream' });
  });

  it.each([
    ['C:\\Users\\ann\\a.txt', 'a.txt'],
    ['/etc/passwd', 'passwd'],
    ['../../a.txt', 'a.txt'],
    ['folder/', 'file'],
    ['folder/..', 'file'],
    ['.', 'file'],
    ['.env', '.env'],
  ])('leaves out the folders of %s', (name, expected) => {
    expect(fileLabel({ name }, 'file').name).toBe(expected);
  });

  it.each([
    ['a\u0000b', 'ab'],
    ['a\r\nb', 'ab'],
    ['a\u202etxt.exe', 'atxt.exe'],
    ['\u0000', 'file'],
    ['a\ud800', 'a\ufffd'],
  ])('takes out of the name %j what controls a terminal or a text', (name, expected) => {
    expect(fileLabel({ name }, 'file').name).toBe(expected);
  });

  it.each(['x'.repeat(256), 'ü'.repeat(128)])('refuses a name of more than 255 bytes', (name) => {
    expect(() => fileLabel({ name }, 'file[1]')).toThrow(/^file\[1\]: the name/);
  });

  it.each(['image', 'image/', 'a b/c', 'text/plain; charset', `a/${'b'.repeat(200)}`, 'text/html\r\nx: y'])(
    'takes a content of the media type %j for bytes',
    (mediaType) => {
      expect(fileLabel({ mediaType }, 'Content-Type').mediaType).toBe('application/octet-stream');
    },
  );
});

describe('harmlessMediaType', () => {
  it.each([
    'text/javascript',
    'application/javascript',
    'Text/JavaScript; charset=utf-8',
    'application/x-ecmascript',
    'text/javascript1.5',
    'text/jscript',
    'text/livescript',
    'text/css',
  ])('gives %s as plain text', (mediaType) => {
    expect(harmlessMediaType(mediaType)).toMatch(/^text\/plain(; charset=utf-8)?$/);
  });

  it.each(['multipart/x-mixed-replace; boundary=b', 'Multipart/form-data'])('gives %s as bytes', (mediaType) => {
    expect(harmlessMediaType(mediaType)).toBe('application/octet-stream');
  });

  it.each(['text/html', 'image/svg+xml', 'text/csv', 'application/json', 'text/css-like', 'video/mp4'])(
    'gives %s as it is',
    (mediaType) => {
      expect(harmlessMediaType(mediaType)).toBe(mediaType);
    },
  );
});

describe('sentFileName', () => {
  it.each([
    ['attachment; filename="a b.txt"', 'a b.txt'],
    ['attachment; filename=a.txt', 'a.txt'],
    ['attachment; filename="say \\"hi\\".txt"', 'say "hi".txt'],
    ['attachment; filename="plain.txt"; filename*=UTF-8\'\'gr%C3%BC%C3%9Fe.txt', 'grüße.txt'],
    [Buffer.from('attachment; filename="grüße.txt"').toString('latin1'), 'grüße.txt'],
    ['attachment; filename="gr\xfc\xdfe.txt"', 'grüße.txt'],
    ['attachment', undefined],
    [undefined, undefined],
  ])('reads %j', (header, expected) => {
    expect(sentFileName(header)).toBe(expected);
  });

  it('refuses an extended name that is not UTF-8', () => {
    expect(() => sentFileName("attachment; filename*=UTF-8''%ff")).toThrow(/Content-Disposition: filename\*/);
  });

  it.each(['a.txt', 'grüße "x" \\ 50%.txt', "it's (1)*.txt", '日本語.pdf'])(
    'reads %s as attachmentNamed wrote it',
    (name) => {
      const header = attachmentNamed(name);
      expect(header).toMatch(/^[\x20-\x7e]*$/);
      expect(sentFileName(header)).toBe(name);
    },
  );
});
