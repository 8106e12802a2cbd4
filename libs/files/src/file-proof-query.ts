import { QueryText } from '#libs/http';
import type { FileProof } from './file-addresses.js';

/** Maximum characters, above the real length: a truncated or altered signature must be refused with 403. */
const LONGEST_SIGNATURE = 200;

/** Query of a signed address. */
export class FileProofQuery {
  @QueryText((text) => /^\d{1,12}$/.test(text), 'must be a Unix time in seconds', {
    required: true,
    description: 'Unix time in seconds until which the address is valid.',
    example: '1790000000',
  })
  expires!: string;

  @QueryText((text) => text.length <= LONGEST_SIGNATURE, 'must be the signature of the address', {
    required: true,
    description: 'Signature of the address.',
    example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  })
  signature!: string;

  get proof(): FileProof {
    return { expires: Number(this.expires), signature: this.signature };
  }
}
