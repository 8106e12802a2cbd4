import { createClient, type ParleyClient, ParleyUnreachable } from '#libs/client';
import { withoutTrailing } from '#libs/protocol';
import { CommandError, EXIT, type ExitCode } from './exit-code.js';
import { packageVersion } from './package-version.js';
import type { Terminal } from './terminal.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';
/** What a header may carry. */
const KEY = /^[\x21-\x7e]+$/;
/** A connection that fails so may be there in a moment; anything else is as wrong then as it is now. */
const PASSING = new Set(['ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN', 'EPIPE', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET']);

/** What the commands share: whom they call, where they answer, and how it ended. */
export class Session {
  /** Nobody waits for the end of the command any more. */
  readonly #over = new AbortController();
  readonly #onInterrupt = (): void => this.interrupt();
  readonly #onReaderGone = (): void => this.#over.abort(new ReaderGone());
  #url: string | undefined;
  #client: ParleyClient | undefined;
  /** Whether the service has ever answered, and whether it does now. */
  #answered = false;
  #away = false;
  code: ExitCode = EXIT.done;

  constructor(readonly terminal: Terminal) {}

  get version(): string {
    return packageVersion();
  }

  /** Aborts at Ctrl-C, when nobody reads the output any more, and where the service is not there at all. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The service that is meant, without a slash at the end. @throws CommandError where that is none */
  get url(): string {
    const url = withoutTrailing(this.#url ?? (this.terminal.env['PARLEY_URL'] || DEFAULT_URL), '/');
    if (isServiceUrl(url)) return url;
    throw new CommandError(
      "the service's URL (--url, PARLEY_URL) must begin with http:// or https://, and have no user name or password",
    );
  }

  /** @throws CommandError */
  get apiKey(): string | undefined {
    const key = this.terminal.env['PARLEY_API_KEY'];
    if (key === undefined || key === '' || KEY.test(key)) return key || undefined;
    throw new CommandError('PARLEY_API_KEY has a space, a line break or another character that no key has');
  }

  /** @throws CommandError */
  get client(): ParleyClient {
    const { url, apiKey } = this;
    return (this.#client ??= createClient({ url, apiKey, fetch: (...request) => this.#fetch(...request) }));
  }

  begin({ url, json }: { url?: string; json?: boolean }): void {
    this.#url = url;
    this.terminal.json = json === true;
    process.once('SIGINT', this.#onInterrupt);
    this.terminal.gone.addEventListener('abort', this.#onReaderGone);
  }

  /** From now on this service is meant. */
  at(url: string): void {
    this.#url = url;
    this.#client = undefined;
  }

  /** Ctrl-C, however it came. */
  interrupt(): void {
    this.#over.abort(new Interrupted());
  }

  end(): void {
    process.off('SIGINT', this.#onInterrupt);
    this.terminal.gone.removeEventListener('abort', this.#onReaderGone);
  }

  /** Says when the service goes and comes back; where it was never there, nothing is waited for. */
  async #fetch(...request: Parameters<typeof fetch>): Promise<Response> {
    try {
      const response = await fetch(...request);
      this.#answered = true;
      this.#report(response.status === 503);
      return response;
    } catch (error) {
      if (this.#answered || PASSING.has(codeOf(error))) this.#report(true);
      else this.#over.abort(new ParleyUnreachable(this.url, error));
      throw error;
    }
  }

  #report(away: boolean): void {
    if (away === this.#away || this.signal.aborted) return;
    this.#away = away;
    this.terminal.note(away ? `${this.url} is away; waiting for it …` : `${this.url} answers again.`);
  }
}

/** The person has pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Whoever read the output has enough: `parley logs -f … | head`. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Why `fetch` failed, as Node names it. */
function codeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : '';
}
