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
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

type Colour = keyof typeof CODES;

/** Where a command is given, and answers: results on standard output, all that is said beside them on standard error. */
export class Terminal {
  readonly env: TerminalOptions['env'];
  readonly input: TerminalOptions['input'];
  /** One JSON document, or one a line while something is followed, in place of texts. */
  json = false;
  readonly #out: TerminalStream;
  readonly #err: TerminalStream;

  constructor({ out, err, input, env }: TerminalOptions) {
    this.#out = out;
    this.#err = err;
    this.input = input;
    this.env = env;
  }

  static ofProcess(): Terminal {
    // Whoever reads may leave: `parley logs | head`.
    process.stdout.on('error', () => undefined);
    return new Terminal({ out: process.stdout, err: process.stderr, input: process.stdin, env: process.env });
  }

  /** Whether a person reads, and may be asked. */
  get interactive(): boolean {
    return !this.json && this.#out.isTTY === true && this.input.isTTY === true;
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

  line(text: string): void {
    this.#out.write(`${text}\n`);
  }

  /** What is said beside the result; nothing where a program reads. */
  note(text: string): void {
    if (!this.json) this.#err.write(`${text}\n`);
  }

  error(value: object, text: string): void {
    this.#err.write(`${this.json ? JSON.stringify(value) : text}\n`);
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
