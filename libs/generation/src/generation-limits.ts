/** Characters of a description. */
export const MOST_DESCRIPTION_CHARACTERS = 20_000;

/** Tokens of one request: of its prompts and answers together. */
export const MOST_TOKENS = 100_000;

/** Answers of the model that are asked for: the first one, and two repairs. */
export const MOST_ATTEMPTS = 3;

/** Requests of one caller that are answered at a time, by each replica. */
export const MOST_AT_A_TIME = 2;

/** Requests of all callers of one tenant that are answered at a time, by each replica. */
export const MOST_OF_TENANT = 12;

/** Requests of all callers that are answered at a time, by each replica. */
export const MOST_IN_PROCESS = 16;

/** Milliseconds that a request may take. */
export const LONGEST_MS = 120_000;

/** Characters that count as a token where a provider does not count them. */
export const TOKEN_CHARACTERS = 4;
