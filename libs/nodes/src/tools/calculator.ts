import type { JsonObject } from '#libs/protocol';
import { NodeFailure } from '../node-failure.js';
import { ArithmeticError, evaluateArithmetic } from './arithmetic.js';
import type { Tool } from './tool.js';

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
