/** What one artifact chunk holds. */
export const CHUNK = 'chunk '.repeat(16);
