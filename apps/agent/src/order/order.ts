/** Order of a guest, as far as it is known. */
export interface Order {
  drink?: string;
  size?: string;
  /** Number of cups; 1 unless the guest says otherwise. */
  quantity?: number;
}

const DRINKS = ['espresso', 'cappuccino', 'latte', 'coffee', 'cocoa', 'tea'];
const SIZES = ['small', 'medium', 'large'];
const NUMBERS = ['one', 'two', 'three', 'four', 'five', 'six'];

/** Returns the order in a guest's texts; a later word replaces an earlier one. */
export function parseOrder(texts: readonly string[]): Order {
  const order: Order = {};
  for (const word of texts.flatMap((text) => text.toLowerCase().match(/[a-z]+|\d+/g) ?? [])) {
    const singular = word.replace(/s$/, '');
    if (DRINKS.includes(singular)) order.drink = singular;
    if (SIZES.includes(word)) order.size = word;
    const quantity = /^\d{1,2}$/.test(word) ? Number(word) : NUMBERS.indexOf(word) + 1;
    if (quantity > 0) order.quantity = quantity;
  }
  return order;
}

/** Returns the next question, or `undefined` if the order is complete. */
export function questionFor({ drink, size }: Order): string | undefined {
  if (drink === undefined) return `What would you like to drink? We have ${DRINKS.join(', ')}.`;
  return size === undefined ? `Which size of ${drink}: ${SIZES.join(', ')}?` : undefined;
}

/** Returns the confirmation of a complete order. */
export function confirmOrder({ drink = '', size = '', quantity = 1 }: Order): string {
  return `Your order: ${quantity} × ${size} ${drink}. Coming up!`;
}
