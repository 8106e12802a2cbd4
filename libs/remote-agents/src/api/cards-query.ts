import { QueryPageSize, QueryText, QueryWord } from '#libs/http';

export const CARD_STATUSES = ['pinned', 'changed'] as const;

/** Query of pinned cards. */
export class CardsQuery {
  @QueryWord(CARD_STATUSES)
  status?: (typeof CARD_STATUSES)[number];

  @QueryPageSize(50)
  pageSize = 50;

  @QueryText((text) => text === '' || urlOf(text) !== undefined, 'is not a token of this list', {
    description: 'The nextPageToken of the page before.',
    example: Buffer.from('https://agent.example.com/a2a').toString('base64url'),
  })
  pageToken?: string;

  /** URL of the last card of the previous page. */
  get after(): string | undefined {
    return this.pageToken === undefined || this.pageToken === '' ? undefined : urlOf(this.pageToken);
  }
}

function urlOf(token: string): string | undefined {
  const url = Buffer.from(token, 'base64url').toString();
  return /^https?:\/\/[\x21-\x7e]+$/.test(url) ? url : undefined;
}
