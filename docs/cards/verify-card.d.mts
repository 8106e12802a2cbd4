export function cardVerifier(parleyUrl: string): <T extends object>(card: T) => Promise<T>;
