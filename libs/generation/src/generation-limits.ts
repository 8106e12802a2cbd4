/** Maximum characters of a description. */
export const MOST_DESCRIPTION_CHARACTERS = 20_000;

/** Maximum tokens of one request, in its prompts and answers together. */
export const MOST_TOKENS = 100_000;

/** Maximum answers of the model: the first one, and two repairs. */
export const MOST_ATTEMPTS = 3;

/** Maximum concurrent requests of one caller, for each replica. */
export const MOST_AT_A_TIME = 2;

/** Maximum concurrent requests of all callers of one tenant, for each replica. */
export const MOST_OF_TENANT = 12;

/** Maximum concurrent requests of all callers, for each replica. */
export const MOST_IN_PROCESS = 16;

/** Maximum milliseconds of a request. */
export const LONGEST_MS = 120_000;

/** Characters that count as one token if a provider does not count tokens. */
export const TOKEN_CHARACTERS = 4;
