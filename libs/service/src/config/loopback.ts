import { isIP } from 'node:net';

/** True if a host is this machine: `localhost`, 127.0.0.0/8 or ::1, with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(bare) === 4) return bare.startsWith('127.');
  return bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1';
}
