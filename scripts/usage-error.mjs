/** Error of the arguments of a command. */
export class UsageError extends Error {}
