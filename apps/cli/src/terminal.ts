import { stripVTControlCharacters } from 'node:util';

export interface TerminalStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

interface TerminalOptions {
  out: TerminalStream;
  err: TerminalStream;
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  /** Signal that aborts when the reader of the output has left. */
  gone?: AbortSignal;
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

type Colour = keyof typeof CODES;

/** Terminal of a command: results go to standard output, everything else to standard error. */
export class Terminal {
  readonly env: TerminalOptions['env'];
  readonly input: TerminalOptions['input'];
  readonly gone: AbortSignal;
  /** True if results are JSON instead of text (`--json`): one document, or one per line while following. */
  json = false;
  readonly #out: TerminalStream;
  readonly #err: TerminalStream;

  constructor({ out, err, input, env, gone = new AbortController().signal }: TerminalOptions) {
    this.#out = out;
    this.#err = err;
    this.gone = gone;
    this.input = input;
    this.env = env;
  }

  static ofProcess(): Terminal {
    const { stdout: out, stderr: err, stdin: input, env } = process;
    const gone = new AbortController();
    // The reader may leave: `parley logs -f … | head`.
    out.on('error', () => gone.abort());
    err.on('error', () => undefined);
    return new Terminal({ out, err, input, env, gone: gone.signal });
  }

  /** Writes the only result of a command: with `--json` `value` as indented JSON, otherwise the result of `text`. */
  writeResult(value: unknown, text: () => string): void {
    if (this.json) this.#out.write(`${JSON.stringify(value, null, 2)}\n`);
    else this.writeLine(text());
  }

  /** Writes one of several results: with `--json` `value` as one line of JSON, otherwise the result of `text`. */
  writeEntry(value: unknown, text: () => string): void {
    if (this.json) this.#out.write(`${JSON.stringify(value)}\n`);
    else this.writeLine(text());
  }

  /** Writes a part of a line to standard output. */
  writePiece(text: string): void {
    this.#out.write(text);
  }

  writeLine(text: string): void {
    this.#out.write(`${text}\n`);
  }

  /** Writes a remark to standard error; nothing with `--json`. */
  writeNote(text: string): void {
    if (!this.json) this.#err.write(`${withoutControls(text, this.#err)}\n`);
  }

  /** Writes an error to standard error, as JSON or as text. */
  writeError(value: object, text: string): void {
    this.#err.write(`${this.json ? JSON.stringify(value) : withoutControls(text, this.#err)}\n`);
  }

  /**
   * Returns an untrusted text without the control characters that a terminal would interpret. If the output is no
   * terminal, returns the text unchanged.
   */
  stripControls(text: string): string {
    return withoutControls(text, this.#out);
  }

  /** Width of the terminal in characters; absent without a terminal. */
  get columns(): number | undefined {
    return this.#out.isTTY === true ? this.#out.columns : undefined;
  }

  paintText(colour: Colour, text: string): string {
    const { NO_COLOR, TERM } = this.env;
    const coloured = this.#out.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
    return coloured ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  }

  /** Returns a table with titles; each column is as wide as its widest cell. */
  formatTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
    const widths = titles.map((title, column) =>
      Math.max(title.length, ...rows.map((row) => stripVTControlCharacters(row[column] ?? '').length)),
    );
    const lineOf = (cells: readonly string[]): string =>
      cells
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stripVTControlCharacters(cell).length))
        .join('  ');
    return [this.paintText('dim', lineOf(titles)), ...rows.map(lineOf)].map((line) => line.trimEnd()).join('\n');
  }
}

/** Returns a value as one line without control characters, which a terminal would interpret. */
export function toOneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

function withoutControls(text: string, { isTTY }: TerminalStream): string {
  // oxlint-disable-next-line no-control-regex
  return isTTY === true ? text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '') : text;
}
