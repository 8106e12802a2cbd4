import type { Schemas } from '#libs/client';

export type Defaults = NonNullable<Schemas['ModelView']['defaults']>;

/** Numbers among a model's defaults, with their labels and what the service permits. */
export const DEFAULT_NUMBERS = [
  { field: 'temperature', label: 'Temperature', min: 0, max: 2, step: 'any' },
  { field: 'topP', label: 'Top P', min: 0, max: 1, step: 'any' },
  { field: 'maxTokens', label: 'Most tokens of an answer', min: 1, max: 1_000_000, step: 1 },
  { field: 'waitSeconds', label: 'Seconds to wait for each piece', min: 1, max: 3_600, step: 1 },
] as const;

/**
 * Returns the defaults in the fields of a form; `undefined` if all fields are empty.
 * @param stored defaults before the change. Texts that a field cannot show, such as a line break, are kept unless the
 * field is changed.
 */
export function readModelDefaults(fields: FormData, stored: Defaults = {}): object | undefined {
  const read = (field: string): string => {
    const value = fields.get(`defaults.${field}`);
    return typeof value === 'string' ? value.trim() : '';
  };
  const numbers = DEFAULT_NUMBERS.flatMap(({ field }) => (read(field) === '' ? [] : [[field, Number(read(field))]]));
  const shown = (stored.stop ?? [])
    .join(', ')
    .replaceAll(/[\r\n]/g, '')
    .trim();
  const written = read('stop')
    .split(',')
    .flatMap((text) => (text.trim() === '' ? [] : [text.trim()]));
  const stop = read('stop') === shown ? (stored.stop ?? []) : written;
  const toolCalls = read('toolCalls');
  const defaults = {
    ...Object.fromEntries(numbers),
    ...(stop.length > 0 && { stop }),
    ...(toolCalls !== '' && { toolCalls }),
  };
  return Object.keys(defaults).length > 0 ? defaults : undefined;
}
