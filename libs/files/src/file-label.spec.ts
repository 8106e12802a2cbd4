import { attachmentNamed, fileLabel, sentFileName } from './file-label.js';

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
  ])('leaves out the folders of %s', (name, expected) => {
    expect(fileLabel({ name }, 'file').name).toBe(expected);
  });

  it.each(['a\u0000b', 'a\nb', 'a\u202etxt.exe', 'x'.repeat(256), 'a\ud800'])('refuses the name %j', (name) => {
    expect(() => fileLabel({ name }, 'file[1]')).toThrow(/^file\[1\]: the name/);
  });

  it.each(['image', 'image/', 'a b/c', 'text/plain; charset', `a/${'b'.repeat(200)}`, 'text/html\r\nx: y'])(
    'refuses the media type %j',
    (mediaType) => {
      expect(() => fileLabel({ mediaType }, 'Content-Type')).toThrow(/^Content-Type: .* is no media type/s);
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
