import { createClient, type ParleyClient } from '#libs/client';
import { EXIT, type ExitCode } from './exit-code.js';
import { packageVersion } from './package-version.js';
import type { Terminal } from './terminal.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/** What the commands share: whom they call, where they answer, and how it ended. */
export class Session {
  /** Ctrl-C. */
  readonly #interrupt = new AbortController();
  readonly #onInterrupt = (): void => this.#interrupt.abort(new Interrupted());
  #url: string | undefined;
  code: ExitCode = EXIT.done;

  constructor(readonly terminal: Terminal) {}

  get version(): string {
    return packageVersion();
  }

  get signal(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** The service that is meant, without a slash at the end. */
  get url(): string {
    return (this.#url ?? this.terminal.env['PARLEY_URL'] ?? DEFAULT_URL).replace(/\/+$/, '');
  }

  get client(): ParleyClient {
    return createClient({ url: this.url, apiKey: this.terminal.env['PARLEY_API_KEY'] });
  }

  begin({ url, json }: { url?: string; json?: boolean }): void {
    this.#url = url;
    this.terminal.json = json === true;
    process.once('SIGINT', this.#onInterrupt);
  }

  /** From now on this service is meant. */
  at(url: string): void {
    this.#url = url;
  }

  end(): void {
    process.off('SIGINT', this.#onInterrupt);
  }
}

/** The person has pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
