import { PageQuery, QueryText } from '#libs/http';

const LONGEST_SEARCH = 255;

/** Selection and page of listed files. */
export class FileQuery extends PageQuery {
  @QueryText((text) => text.length <= LONGEST_SEARCH, `must have at most ${LONGEST_SEARCH} characters`, {
    description: 'Files whose names contain this text, in any case.',
    example: 'report',
  })
  q?: string;
}
