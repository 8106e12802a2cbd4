import { QueryText, QueryWholePageSize } from '#libs/http';
import { MOST_MODELS } from './model-store.js';
import { MODEL_NAME } from './stored-model.js';

/** Page of the list of models. */
export class ModelQuery {
  @QueryWholePageSize(MOST_MODELS)
  pageSize = MOST_MODELS;

  @QueryText((token) => token === '' || MODEL_NAME.test(token), 'is not a token of this list', {
    description: 'The nextPageToken of the page before.',
    example: 'large',
  })
  pageToken?: string;
}
