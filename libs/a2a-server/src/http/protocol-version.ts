import type { FastifyRequest } from 'fastify';
import { A2AError, textStart } from '#libs/protocol';

/** Protocol versions that this server supports. */
export const SUPPORTED_VERSIONS = ['1.0', '0.3'] as const;

const VERSION = /^(\d+)\.(\d+)(?:\.\d+)?$/;
const LEGACY_VERSION = /^(0\.3(\.\d+)?)?$/;

/**
 * Returns the requested version: the `A2A-Version` header, else the query parameter of that name, else `''` (section
 * 3.6.1).
 */
export function requestedVersion(request: FastifyRequest): string {
  const header = request.headers['a2a-version'];
  const named = typeof header === 'string' && header.trim() !== '' ? header : queryVersion(request.query);
  return named.trim();
}

/** True for a version of A2A 1.0. Only major and minor count. */
export function isCurrentVersion(version: string): boolean {
  if (version === '1.0') return true;
  const match = VERSION.exec(version);
  return match !== null && match[1] === '1' && match[2] === '0';
}

/** True for a version of A2A 0.3, which is also the default (section 3.6.2). */
export function isLegacyVersion(version: string): boolean {
  return LEGACY_VERSION.test(version);
}

/**
 * Requires A2A 1.0 for an operation of that version.
 * @throws A2AError VERSION_NOT_SUPPORTED
 */
export function requireSupportedVersion(version: string): void {
  if (isCurrentVersion(version)) return;
  const named = version === '' ? '0.3' : textStart(version, 32);
  throw new A2AError('VERSION_NOT_SUPPORTED', {
    message: isLegacyVersion(version)
      ? `This is an operation of A2A 1.0, and the request is one of ${named}; send A2A-Version: 1.0`
      : `A2A protocol version ${named} is not supported; send A2A-Version: ${SUPPORTED_VERSIONS.join(' or ')}`,
    metadata: { requestedVersion: named, supportedVersions: SUPPORTED_VERSIONS.join(',') },
  });
}

function queryVersion(query: unknown): string {
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (name.toLowerCase() === 'a2a-version' && typeof value === 'string') return value;
  }
  return '';
}
