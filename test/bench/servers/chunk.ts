/** Content of one artifact chunk. */
export const CHUNK = 'chunk '.repeat(16);
