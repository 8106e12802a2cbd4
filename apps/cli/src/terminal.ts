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
  /** Aborts when whoever read the output has left. */
  gone?: AbortSignal;
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

type Colour = keyof typeof CODES;

/** Where a command is given, and answers: results on standard output, all that is said beside them on standard error. */
export class Terminal {
  readonly env: TerminalOptions['env'];
  readonly input: TerminalOptions['input'];
  readonly gone: AbortSignal;
  /** One JSON document, or one a line while something is followed, in place of texts. */
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
    // Whoever reads may leave: `parley logs -f … | head`.
    out.on('error', () => gone.abort());
    err.on('error', () => undefined);
    return new Terminal({ out, err, input, env, gone: gone.signal });
  }

  /** The result: as JSON where that is wanted, else as the text says it. */
  result(value: unknown, text: () => string): void {
    if (this.json) this.#out.write(`${JSON.stringify(value, null, 2)}\n`);
    else this.line(text());
  }

  /** One of many results. */
  entry(value: unknown, text: () => string): void {
    if (this.json) this.#out.write(`${JSON.stringify(value)}\n`);
    else this.line(text());
  }

  /** Part of a line. */
  piece(text: string): void {
    this.#out.write(text);
  }

  line(text: string): void {
    this.#out.write(`${text}\n`);
  }

  /** What is said beside the result; nothing where a program reads. */
  note(text: string): void {
    if (!this.json) this.#err.write(`${harmless(text, this.#err)}\n`);
  }

  /** What went wrong. */
  error(value: object, text: string): void {
    this.#err.write(`${this.json ? JSON.stringify(value) : harmless(text, this.#err)}\n`);
  }

  /** What somebody else wrote: on a terminal without the characters that it would act on. */
  foreign(text: string): string {
    return harmless(text, this.#out);
  }

  /** Characters in a line; absent where nobody looks. */
  get columns(): number | undefined {
    return this.#out.isTTY === true ? this.#out.columns : undefined;
  }

  paint(colour: Colour, text: string): string {
    const { NO_COLOR, TERM } = this.env;
    const coloured = this.#out.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
    return coloured ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  }

  /** Rows under titles, each column as wide as its widest cell. */
  table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
    const widths = titles.map((title, column) =>
      Math.max(title.length, ...rows.map((row) => stripVTControlCharacters(row[column] ?? '').length)),
    );
    const lineOf = (cells: readonly string[]): string =>
      cells
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stripVTControlCharacters(cell).length))
        .join('  ');
    return [this.paint('dim', lineOf(titles)), ...rows.map(lineOf)].map((line) => line.trimEnd()).join('\n');
  }
}

function harmless(text: string, { isTTY }: TerminalStream): string {
  // oxlint-disable-next-line no-control-regex
  return isTTY === true ? text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '') : text;
}
