export {
  compileExpression,
  evaluateCondition,
  evaluateExpression,
  evaluatePointInTime,
  type Expression,
  type Variables,
} from './expression.js';
export { addMilliseconds, DURATION, LONGEST_DURATION, parseDuration } from './functions/time.js';
export { EvaluationBudget, MOST_STEPS, SharedUse } from './evaluation.js';
export { ExpressionError, InvalidExpression } from './expression-error.js';
export { droppedData, readAnswer, strayParts } from './schema/form-answer.js';
export { withDecimalMultiples } from './schema/multiple-of.js';
export { InputSchema, InvalidInputSchema } from './schema/input-schema.js';
export { compileTemplate, expressionsIn, isFillingOf, renderTemplate, type Template } from './template.js';
export { Members, type Value } from './values.js';
export type { Reference, Vocabulary } from './syntax-check.js';
