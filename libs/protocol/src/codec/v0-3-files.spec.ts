import { decodeFilesOnce, encodeFilesTwice, fileEncodingOf } from './v0-3-files.js';

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
const FILE = base64('\0\xff the bytes');

const sent = (raw: unknown) => ({ message: { messageId: 'm', parts: [{ text: 'a' }, { raw, filename: 'f' }, null] } });

describe('files over HTTP+JSON of A2A 0.3', () => {
  it.each([
    ['python-httpx/0.28.1', 'twice'],
    ['Java-http-client/17.0.9', 'twice'],
    ['node', 'once'],
    ['a python-httpx/0.28.1', 'once'],
    [undefined, 'once'],
  ])('are encoded by %s %s', (userAgent, encoding) => {
    expect(fileEncodingOf(userAgent)).toBe(encoding);
  });

  it('lose the second encoding, and keep the first where there is no second', () => {
    expect(decodeFilesOnce(sent(base64(FILE)) as never)).toEqual(sent(FILE));
    expect(decodeFilesOnce(sent(FILE) as never)).toEqual(sent(FILE));
    expect(decodeFilesOnce(sent('') as never)).toEqual(sent(''));
    expect(decodeFilesOnce(sent(base64('YWJj\n')) as never)).toEqual(sent(base64('YWJj\n')));
    expect(decodeFilesOnce(sent(5) as never)).toEqual(sent(5));
  });

  it.each([null, [], 'x', {}, { message: null }, { message: { parts: 5 } }])('leave %j to the validation', (params) => {
    expect(decodeFilesOnce(params as never)).toEqual(params);
  });

  it('get the second encoding in every Message and Artifact, and only there', () => {
    const parts = (raw: string) => [{ text: 'a' }, { raw, metadata: { parts: [{ raw: FILE }] } }];
    const data = { task: { parts: [{ raw: FILE }] } };
    const task = (raw: string) => ({
      id: 't',
      status: { state: 'TASK_STATE_WORKING', message: { messageId: 'm', parts: parts(raw) } },
      history: [{ messageId: 'n', parts: [...parts(raw), { data }] }],
      artifacts: [{ artifactId: 'a', parts: parts(raw), metadata: data }],
    });
    const doubled = base64(FILE);
    expect(encodeFilesTwice({ task: task(FILE) })).toEqual({ task: task(doubled) });
    expect(encodeFilesTwice({ tasks: [task(FILE)], nextPageToken: '' })).toEqual({
      tasks: [task(doubled)],
      nextPageToken: '',
    });
    const update = (raw: string) => ({ artifactUpdate: { taskId: 't', artifact: { parts: parts(raw) } } });
    expect(encodeFilesTwice(update(FILE))).toEqual(update(doubled));
    expect(encodeFilesTwice({ url: 'http://a', token: 't' })).toEqual({ url: 'http://a', token: 't' });
  });
});
