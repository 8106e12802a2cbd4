/**
 * What a signature is for, as the `typ` of its protected header says (RFC 8725, section 3.11). One key pair signs
 * everything, so whoever verifies has to ask for the type: a signature of one kind is never one of the other.
 */
export const SIGNATURE_TYPES = {
  /** A2A 1.0, section 8.4.2. */
  card: 'JOSE',
  notification: 'parley-notification+jws',
} as const;
