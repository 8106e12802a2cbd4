import { QueryText } from '#libs/http';
import type { FileProof } from './file-addresses.js';

/** What a signed address carries. */
export class FileProofQuery {
  @QueryText((text) => /^\d{1,12}$/.test(text), 'must be a Unix time in seconds', {
    required: true,
    description: 'Unix time in seconds until which the address is valid.',
    example: '1790000000',
  })
  expires!: string;

  @QueryText((text) => /^[\w-]{43}$/.test(text), 'must be the signature of the address', {
    required: true,
    description: 'Signature of the address.',
    example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  })
  signature!: string;

  get proof(): FileProof {
    return { expires: Number(this.expires), signature: this.signature };
  }
}
