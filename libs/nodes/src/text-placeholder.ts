import { isJsonObject, type JsonValue, TextBudget } from '#libs/protocol';

const PLACEHOLDER = '{{text}}';

/**
 * Returns a copy with `{{text}}` replaced in every string, at any depth. Inserted text is not searched again.
 * @param budget limit for all strings together
 * @throws ContentTooLarge beyond it, before any string is built
 */
export function withText<T extends JsonValue>(value: T, text: string, budget = new TextBudget()): T {
  return replaced(value, text, budget) as T;
}

function replaced(value: JsonValue, text: string, budget: TextBudget): JsonValue {
  if (typeof value === 'string') return filled(value, text, budget);
  if (Array.isArray(value)) return value.map((item) => replaced(item, text, budget));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, text, budget)]));
}

function filled(value: string, text: string, budget: TextBudget): string {
  budget.spend(value.length);
  return value.replaceAll(PLACEHOLDER, () => {
    budget.spend(text.length - PLACEHOLDER.length);
    return text;
  });
}
