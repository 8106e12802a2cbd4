/** How what is asked of the world turns out: each question has one answer, whenever it is asked. */
export type Fate = (question: string, options: number) => number;

/** The same answer to the same question, and any to different ones. */
export function fateOf(seed: number): Fate {
  return (question, options) => {
    let hash = seed ^ 0x9e3779b9;
    for (const letter of question) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x85ebca6b) ^ (hash >>> 13);
    return ((hash ^ (hash >>> 16)) >>> 0) % Math.max(options, 1);
  };
}
