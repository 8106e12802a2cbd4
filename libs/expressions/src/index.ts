export {
  compileExpression,
  evaluateCondition,
  evaluateExpression,
  type Expression,
  evaluatePointInTime,
  type Variables,
} from './expression.js';
export { DURATION, parseDuration, addMilliseconds, LONGEST_DURATION } from './duration.js';
export { EvaluationBudget, MOST_STEPS } from './evaluation-budget.js';
export { ExpressionError, InvalidExpression } from './expression-error.js';
export { readAnswer } from './schema/form-answer.js';
export { droppedData, strayParts } from './schema/stray-parts.js';
export { withDecimalMultiples } from './schema/multiple-of.js';
export { InputSchema, InvalidInputSchema } from './schema/input-schema.js';
export { SharedUse } from './schema/shared-use.js';
export { compileTemplate, expressionsIn, isFillingOf, renderTemplate, type Template } from './template.js';
export { Members, type Value } from './values.js';
export type { Reference, Vocabulary } from './vocabulary.js';
