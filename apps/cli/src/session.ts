import { createClient, type ParleyClient, ParleyUnreachable } from '#libs/client';
import { withoutTrailing } from '#libs/protocol';
import { CommandError, EXIT, type ExitCode } from './exit-code.js';
import { packageVersion } from './package-version.js';
import type { Terminal } from './terminal.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';
/** Pattern of an API key that a header may carry. */
const KEY = /^[\x21-\x7e]+$/;
/**
 * Error codes of connections that are worth a retry. Any other error is permanent as long as the service has never
 * answered this command.
 */
const PASSING = new Set(['ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN', 'EPIPE', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET']);

/** State that commands share: the service, the terminal, and the exit code. */
export class Session {
  /** Controller of `signal`. */
  readonly #over = new AbortController();
  readonly #onInterrupt = (): void => this.interruptCommand();
  readonly #onReaderGone = (): void => this.#over.abort(new ReaderGone());
  #url: string | undefined;
  #client: ParleyClient | undefined;
  /** True if the service has ever answered. `#away` is true while it does not answer. */
  #answered = false;
  #away = false;
  code: ExitCode = EXIT.done;

  constructor(readonly terminal: Terminal) {}

  get version(): string {
    return packageVersion();
  }

  /**
   * Signal that aborts in these cases:
   * - The user presses Ctrl-C.
   * - The reader of the output leaves.
   * - A call of the service fails with an error other than those of PASSING, and the service has never answered before.
   */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** URL of the service, without a trailing slash. @throws CommandError if it is invalid */
  get url(): string {
    const url = withoutTrailing(this.#url ?? (this.terminal.env['PARLEY_URL'] || DEFAULT_URL), '/');
    if (isServiceUrl(url)) return url;
    throw new CommandError(
      "the service's URL (--url, PARLEY_URL) must begin with http:// or https://, and have no user name or password",
    );
  }

  /** Key of the service, if any. @throws CommandError if it is invalid */
  get apiKey(): string | undefined {
    const key = this.terminal.env['PARLEY_API_KEY'];
    if (key === undefined || key === '' || KEY.test(key)) return key || undefined;
    throw new CommandError('PARLEY_API_KEY has a space, a line break or another character that no key has');
  }

  /** Client of the service. @throws CommandError for an invalid URL or key */
  get client(): ParleyClient {
    const { url, apiKey } = this;
    return (this.#client ??= createClient({ url, apiKey, fetch: (...request) => this.#fetchReporting(...request) }));
  }

  beginCommand({ url, json }: { url?: string; json?: boolean }): void {
    this.#url = url;
    this.terminal.json = json === true;
    process.once('SIGINT', this.#onInterrupt);
    this.terminal.gone.addEventListener('abort', this.#onReaderGone);
  }

  /** Sets the URL of the service to call from now on. */
  targetService(url: string): void {
    this.#url = url;
    this.#client = undefined;
  }

  /**
   * Aborts `signal` with Interrupted. Called when the user presses Ctrl-C, for the signal SIGINT and for the key press.
   */
  interruptCommand(): void {
    this.#over.abort(new Interrupted());
  }

  endCommand(): void {
    process.off('SIGINT', this.#onInterrupt);
    this.terminal.gone.removeEventListener('abort', this.#onReaderGone);
  }

  /**
   * Calls the service. Writes a note to the terminal when the service stops answering, and when it answers again. If
   * the service has never answered and the error is none of PASSING, `signal` is aborted, so that the command ends.
   * @throws the error of `fetch`
   */
  async #fetchReporting(...request: Parameters<typeof fetch>): Promise<Response> {
    try {
      const response = await fetch(...request);
      this.#answered = true;
      this.#reportAway(response.status === 503);
      return response;
    } catch (error) {
      if (this.#answered || PASSING.has(failureCode(error))) this.#reportAway(true);
      else this.#over.abort(new ParleyUnreachable(this.url, error));
      throw error;
    }
  }

  #reportAway(away: boolean): void {
    if (away === this.#away || this.signal.aborted) return;
    this.#away = away;
    this.terminal.writeNote(away ? `${this.url} is unreachable; waiting for it …` : `${this.url} answers again.`);
  }
}

/** Abort reason: the user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Abort reason: the reader of the output has left, as in `parley logs -f … | head`. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Returns Node's error code of a failed `fetch`, such as `ECONNREFUSED`; '' if the error has no code. */
function failureCode(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : '';
}
