import { endsV03Stream, type JsonObject, type StreamResponse } from '#libs/protocol';
import type { StreamItem } from '../stream-item.js';

/**
 * The items of a stream in a form of 0.3. Its streams end with the status that ends the turn, also a resubscription,
 * which 1.0 goes on with until the Task ends.
 */
export async function* legacyItems(
  items: AsyncIterable<StreamItem>,
  write: (response: StreamResponse) => JsonObject,
): AsyncGenerator<StreamItem, void, undefined> {
  for await (const { sequence, response } of items) {
    yield { sequence, json: JSON.stringify(write(response)), response };
    if (endsV03Stream(response)) return;
  }
}
