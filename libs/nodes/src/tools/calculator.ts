import type { JsonObject } from '#libs/protocol';
import { NodeFailure } from '../node-executor.js';
import type { Tool } from './tool-registry.js';

/** Error of an expression that is not arithmetic. */
export class ArithmeticError extends Error {
  override readonly name = 'ArithmeticError';
}

const MAX_LENGTH = 1_000;
const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(\*\*|[-+*/%^()]))/y;

/**
 * Evaluates an arithmetic expression: numbers, `+ - * / %`, powers (`^` or `**`, right to left), signs and parentheses.
 * Nothing is executed as code.
 * @throws ArithmeticError
 */
export function evaluateArithmetic(expression: string): number {
  if (expression.length > MAX_LENGTH)
    throw new ArithmeticError(`the expression is longer than ${MAX_LENGTH} characters`);
  const parser = new Parser(tokensOf(expression));
  const value = parser.parseWhole();
  if (!Number.isFinite(value)) throw new ArithmeticError('the result is not a finite number');
  return value;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new ArithmeticError(`unexpected "${text.slice(start).trimStart()[0]}"`);
    tokens.push(match[1] ?? match[2] ?? '');
  }
  return tokens;
}

class Parser {
  #position = 0;

  constructor(private readonly tokens: readonly string[]) {}

  parseWhole(): number {
    const value = this.#parseSum();
    if (this.#next !== undefined) throw new ArithmeticError(`unexpected "${this.#next}"`);
    return value;
  }

  #parseSum(): number {
    let value = this.#parseProduct();
    for (let sign = this.#takeToken('+', '-'); sign; sign = this.#takeToken('+', '-')) {
      value = sign === '+' ? value + this.#parseProduct() : value - this.#parseProduct();
    }
    return value;
  }

  #parseProduct(): number {
    let value = this.#parseSigned();
    for (let sign = this.#takeToken('*', '/', '%'); sign; sign = this.#takeToken('*', '/', '%')) {
      const right = this.#parseSigned();
      value = sign === '*' ? value * right : sign === '/' ? value / right : value % right;
    }
    return value;
  }

  #parseSigned(): number {
    const sign = this.#takeToken('+', '-');
    if (sign) return sign === '-' ? -this.#parseSigned() : this.#parseSigned();
    return this.#parsePower();
  }

  #parsePower(): number {
    const value = this.#parseAtom();
    return this.#takeToken('^', '**') ? value ** this.#parseSigned() : value;
  }

  #parseAtom(): number {
    if (this.#takeToken('(')) {
      const value = this.#parseSum();
      if (!this.#takeToken(')')) throw new ArithmeticError('a parenthesis is not closed');
      return value;
    }
    const token = this.#next;
    if (token === undefined) throw new ArithmeticError('the expression ends too early');
    const value = Number(token);
    if (Number.isNaN(value)) throw new ArithmeticError(`unexpected "${token}"`);
    this.#position += 1;
    return value;
  }

  get #next(): string | undefined {
    return this.tokens[this.#position];
  }

  #takeToken(...wanted: string[]): string | undefined {
    const token = this.#next;
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#position += 1;
    return token;
  }
}

/** Evaluates an arithmetic expression. */
export class Calculator implements Tool {
  readonly name = 'calculator';
  readonly description = 'The value of an arithmetic expression';
  readonly repeatable = true;
  readonly parameters: JsonObject = {
    type: 'object',
    properties: { expression: { type: 'string', description: 'For example (2 + 3) * 4' } },
    required: ['expression'],
  };

  runTool({ expression }: JsonObject): number {
    try {
      return evaluateArithmetic(expression as string);
    } catch (error) {
      if (error instanceof ArithmeticError) throw new NodeFailure(`calculator: ${error.message}`, { cause: error });
      throw error;
    }
  }
}
