export function notificationVerifier(
  parleyUrl: string,
  receiverUrl: string,
  options?: { maxAgeSeconds?: number },
): (headers: Record<string, string | string[] | undefined>, body: string | Uint8Array) => Promise<string>;
