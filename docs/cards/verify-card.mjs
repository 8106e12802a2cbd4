// Verifies agent cards of Parley. Needs `@a2a-js/sdk` and `jose` (npm install @a2a-js/sdk jose).
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { decodeProtectedHeader } from 'jose';

/**
 * Makes a verifier for the cards of one Parley service. Take its base URL from your own configuration, never from a card:
 * a key that a card names proves only that the card's server has it.
 */
export function cardVerifier(parleyUrl) {
  const keySet = `${parleyUrl.replace(/\/+$/, '')}/.well-known/jwks.json`;
  const verify = verifyAgentCardSignature(async (kid) => {
    const { keys } = await (await fetch(keySet)).json();
    const key = keys.find((it) => it.kid === kid);
    if (!key) throw new Error('The card is not signed with a key of this service');
    return key;
  });
  /**
   * @param card the JSON of the card as it came, not yet read by a client: one that has been decoded has lost parts
   * @returns the card; rejects where no signature is genuine
   */
  return async (card) => {
    // The same key signs notifications, which say so in their type.
    const signatures = card.signatures?.filter((it) => decodeProtectedHeader(it).typ === 'JOSE');
    await verify({ ...card, signatures });
    return card;
  };
}
