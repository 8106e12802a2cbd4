import type { Part, SendMessageRequest, StreamResponse } from '#libs/protocol';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import { FileOpeningTransport, type FileReader, OutgoingFiles } from './file-opening-transport.js';

const scope = { tenant: 'acme', owner: 'ann' };
const OWN = 'https://parley.example.com/api/files/1';

class SignedFiles extends OutgoingFiles {
  readonly asked: [reader: FileReader, forMs: number][] = [];

  override async openFiles(parts: readonly Part[], reader: FileReader, forMs: number): Promise<Part[]> {
    this.asked.push([reader, forMs]);
    return parts.map((part) => (part.url === OWN ? { ...part, url: `${OWN}?signed` } : part));
  }
}

/** Creates a transport that records the Parts of each sent Message. */
function noting(sent: Part[][], hasPost = true): AgentTransport {
  const answer = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } } as unknown as StreamResponse;
  const note = ({ message }: SendMessageRequest): void => void sent.push(message.parts);
  return {
    streaming: true,
    timeouts: { idle: 5 },
    async *sendMessage(request: SendMessageRequest) {
      note(request);
      yield answer;
    },
    ...(hasPost && {
      postMessage: async (request: SendMessageRequest) => {
        note(request);
        return answer;
      },
    }),
  } as unknown as AgentTransport;
}

const request = (...parts: Part[]): SendMessageRequest =>
  ({ message: { messageId: 'm', role: 'ROLE_USER', parts } }) as unknown as SendMessageRequest;
const options = (more: Partial<TransportOptions> = {}): TransportOptions => ({
  scope,
  signal: new AbortController().signal,
  alive: () => undefined,
  ...more,
});

describe('FileOpeningTransport', () => {
  it('sends signed addresses, streaming and not, and leaves the request as it was', async () => {
    const [sent, files] = [[] as Part[][], new SignedFiles()];
    const transport = new FileOpeningTransport(noting(sent), files);
    const message = request({ text: 'look' }, { url: OWN, mediaType: 'image/png' });
    for await (const _ of transport.sendMessage(message, options()));
    await transport.postMessage!(message, options());
    const opened = [{ text: 'look' }, { url: `${OWN}?signed`, mediaType: 'image/png' }];
    expect(sent).toEqual([opened, opened]);
    expect(message.message.parts[1]).toEqual({ url: OWN, mediaType: 'image/png' });
  });

  it('asks for addresses that outlive the call by a quarter of an hour, and a day where the call has no limit', async () => {
    const files = new SignedFiles();
    const transport = new FileOpeningTransport(noting([]), files);
    for (const total of [60_000, Infinity])
      await transport.postMessage!(request({ url: OWN }), options({ timeouts: { total } }));
    await transport.postMessage!(request({ url: OWN }), options());
    const [quarter, day] = [900_000, 86_400_000];
    expect(files.asked).toEqual([60_000, day, day].map((ms) => [scope, ms + quarter]));
  });

  it('asks nothing of Messages without URLs, nor for a call without an owner', async () => {
    const [sent, files] = [[] as Part[][], new SignedFiles()];
    const transport = new FileOpeningTransport(noting(sent), files);
    await transport.postMessage!(request({ text: 'x' }), options());
    await transport.postMessage!(request({ url: OWN }), {
      signal: new AbortController().signal,
      alive: () => undefined,
    });
    expect([files.asked, sent]).toEqual([[], [[{ text: 'x' }], [{ url: OWN }]]]);
  });

  it('posts only where the transport behind it does', () => {
    const transport = new FileOpeningTransport(noting([], false), new SignedFiles());
    expect([transport.postMessage, transport.streaming, transport.timeouts]).toEqual([undefined, true, { idle: 5 }]);
  });
});
