const DURATION = /^\d+(\.\d+)?(ms|s|m|h|d)$/;

/** What is wrong with a length of time; nothing is, where nothing is typed. */
export function durationFault(text: string, templates = false): string | undefined {
  if (text === '' || DURATION.test(text) || (templates && text.includes('${'))) return undefined;
  return 'A number with ms, s, m, h or d, such as 30s or 1.5h.';
}
