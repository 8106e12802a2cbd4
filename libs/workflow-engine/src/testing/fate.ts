/** Reproducible random choice: returns the same option for the same question, whenever it is called. */
export type Fate = (question: string, options: number) => number;

/** Creates a reproducible random choice (Fate) from a seed. */
export function fateOf(seed: number): Fate {
  return (question, options) => {
    let hash = seed ^ 0x9e3779b9;
    for (const letter of question) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x85ebca6b) ^ (hash >>> 13);
    return ((hash ^ (hash >>> 16)) >>> 0) % Math.max(options, 1);
  };
}
