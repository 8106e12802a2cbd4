import { A2AError } from '#libs/protocol';
import { publicError } from '../public-error.js';

/**
 * What a caller of 0.3 sees of an error. An extended card that is not there has its own error in 0.3, whatever the
 * reason.
 */
export function legacyError(error: unknown, extendedCard: boolean): A2AError {
  const shown = publicError(error);
  if (!extendedCard || shown.reason !== 'UNSUPPORTED_OPERATION') return shown;
  return new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', { cause: error });
}
