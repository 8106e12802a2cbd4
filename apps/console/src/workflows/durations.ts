const DURATION = /^\d+(\.\d+)?(ms|s|m|h|d)$/;

/**
 * Returns the error of a duration text; `undefined` if it is valid or empty.
 * @param templates true if it may contain `${expressions}`
 */
export function durationFault(text: string, templates = false): string | undefined {
  if (text === '' || DURATION.test(text) || (templates && text.includes('${'))) return undefined;
  return 'A number with ms, s, m, h or d, such as 30s or 1.5h.';
}
