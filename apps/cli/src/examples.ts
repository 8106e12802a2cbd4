/** Returns example command lines as the end of a help text. */
export function exampleText(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}
