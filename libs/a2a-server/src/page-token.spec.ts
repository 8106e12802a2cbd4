import fc from 'fast-check';
import { pageTokenAfter } from '#libs/http-server';
import { decodePageToken } from './request-handler.js';

describe('page tokens', () => {
  it('give back the place they were made for', () => {
    const places = fc.record({
      updatedAt: fc.date({ min: new Date(0), noInvalidDate: true }),
      taskId: fc.stringMatching(/^[\w.:-]{1,100}$/),
    });
    fc.assert(fc.property(places, (place) => expect(decodePageToken(pageTokenAfter(place))).toEqual(place)));
  });

  it.each(['', 'x', '***', '42', Buffer.from('9999999999999999.t').toString('base64url'), 'MTIz', '../..', 'a.b'])(
    'refuse %p',
    (token) => {
      expect(() => decodePageToken(token)).toThrow(expect.objectContaining({ code: -32602 }));
    },
  );

  it('refuse whatever else is thrown at them', () => {
    fc.assert(
      fc.property(fc.string(), (token) => {
        try {
          expect(pageTokenAfter(decodePageToken(token))).toBe(token);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'pageToken' }] });
        }
      }),
    );
  });
});
