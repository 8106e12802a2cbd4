/** What counts as the same text in a merge: neither case nor spaces make a difference. */
export function normalised(text: string): string {
  return text.toLowerCase().trim().replace(/\s+/g, ' ');
}

export function wordCount(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
