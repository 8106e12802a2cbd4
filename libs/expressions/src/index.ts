export { compile, decide, evaluate, type Expression, pointInTime, type Variables } from './expression.js';
export { DURATION, durationOf, later, LONGEST_DURATION } from './duration.js';
export { EvaluationBudget } from './evaluation-budget.js';
export { ExpressionError, InvalidExpression } from './expression-error.js';
export { InputSchema, InvalidInputSchema } from './schema/input-schema.js';
export { SharedUse } from './schema/shared-use.js';
export { compileTemplate, expressionsIn, renderTemplate, type Template } from './template.js';
export { Members, type Value } from './values.js';
export type { Reference, Variable, Vocabulary } from './vocabulary.js';
