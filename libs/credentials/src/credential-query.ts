import { QueryText, QueryWholePageSize } from '#libs/http';
import { MOST_CREDENTIALS } from './credential-store.js';
import { CREDENTIAL_NAME } from './credential.js';

/** Selection and page of listed credentials. */
export class CredentialQuery {
  @QueryWholePageSize(MOST_CREDENTIALS)
  pageSize = MOST_CREDENTIALS;

  @QueryText((token) => token === '' || CREDENTIAL_NAME.test(token), 'is not a token of this list', {
    description: 'The nextPageToken of the page before.',
    example: 'partner',
  })
  pageToken?: string;
}
