export { compile, decide, evaluate, type Expression, pointInTime, type Variables } from './expression.js';
export { EvaluationBudget } from './evaluation-budget.js';
export { ExpressionError, InvalidExpression } from './expression-error.js';
export { compileTemplate, renderTemplate, type Template } from './template.js';
export { Members, type Value } from './values.js';
export type { Reference, Variable, Vocabulary } from './vocabulary.js';
