import { isJsonObject, type JsonValue, TextBudget } from '#libs/protocol';

const PLACEHOLDER = '{{text}}';

/**
 * Returns a copy with `{{text}}` replaced in every string, at any depth. Inserted text is not searched again.
 * @param budget limit for all strings together
 * @throws ContentTooLarge beyond it, before any string is built
 */
export function withText<T extends JsonValue>(value: T, text: string, budget = new TextBudget()): T {
  return replacePlaceholders(value, text, budget) as T;
}

function replacePlaceholders(value: JsonValue, text: string, budget: TextBudget): JsonValue {
  if (typeof value === 'string') return fillText(value, text, budget);
  if (Array.isArray(value)) return value.map((item) => replacePlaceholders(item, text, budget));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replacePlaceholders(item, text, budget)]));
}

function fillText(value: string, text: string, budget: TextBudget): string {
  budget.spendCharacters(value.length);
  return value.replaceAll(PLACEHOLDER, () => {
    budget.spendCharacters(text.length - PLACEHOLDER.length);
    return text;
  });
}
