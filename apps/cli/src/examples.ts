/** Returns the end of a help text: example command lines. */
export function exampleText(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}
