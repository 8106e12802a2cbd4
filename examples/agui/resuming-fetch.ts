/** Types of the events after which a run has ended. */
const LAST = new Set(['RUN_FINISHED', 'RUN_ERROR']);

export interface ResumingOptions {
  /** Function that makes the requests; default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Milliseconds between two attempts to reach the service; default 500. */
  waitMs?: number;
  /** Number of attempts in a row that may fail; default 60. */
  attempts?: number;
}

/** Position in the stream of a run: the last id that was received, and if the run has ended. */
interface Position {
  id?: string;
  isOver: boolean;
}

/**
 * Creates a `fetch` for `HttpAgent` that survives the loss of its connection: it sends the request again, to any
 * replica, with the id of the last event as `Last-Event-ID`. The agent sees one stream, with each event once.
 */
export function resumingFetch({
  fetch: send = fetch,
  waitMs = 500,
  attempts = 60,
}: ResumingOptions = {}): typeof fetch {
  return async (url, init) => {
    const position: Position = { isOver: false };
    const request = async (): Promise<Response> => {
      for (let failures = 0; ; failures += 1) {
        try {
          const headers = new Headers(init?.headers);
          if (position.id !== undefined) headers.set('last-event-id', position.id);
          const response = await send(url, { ...init, headers });
          // A replica that shuts down, or whose database is away, asks to try again.
          if (response.status !== 503 || failures >= attempts) return response;
        } catch (error) {
          if (init?.signal?.aborted || failures >= attempts) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    };
    const first = await request();
    const isStream = first.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (!isStream) return first;
    const body = ReadableStream.from(wholeRun(first, request, position)).pipeThrough(new TextEncoderStream());
    return new Response(body, { status: first.status, headers: first.headers });
  };
}

/** Yields the frames of a run until its last event, over as many connections as that takes. */
async function* wholeRun(
  first: Response,
  request: () => Promise<Response>,
  position: Position,
): AsyncGenerator<string> {
  for (let response = first; ; response = await request()) {
    if (!response.ok) throw new Error(`The run cannot be resumed: HTTP ${response.status} ${await response.text()}`);
    try {
      for await (const frame of framesOf(response)) {
        notePosition(frame, position);
        yield frame;
        if (position.isOver) return;
      }
    } catch {
      // The connection was cut. The run continues, and so does its stream, after the last whole frame.
    }
  }
}

/** Yields the frames of a response, each with its blank line. A frame that was cut is left out. */
async function* framesOf({ body }: Response): AsyncGenerator<string> {
  let rest = '';
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) yield `${frame}\n\n`;
  }
}

function notePosition(frame: string, position: Position): void {
  for (const line of frame.split('\n')) {
    if (line.startsWith('id: ')) position.id = line.slice('id: '.length);
    if (!line.startsWith('data: ')) continue;
    const { type } = JSON.parse(line.slice('data: '.length)) as { type?: string };
    position.isOver = LAST.has(type ?? '');
  }
}
