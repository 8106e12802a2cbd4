import { A2AError } from '#libs/protocol';
import { UploadTurns } from './upload-turns.js';

describe('UploadTurns', () => {
  it('lets four uploads of a caller be under way, and those of others beside them', () => {
    const turns = new UploadTurns();
    const leave = [1, 2, 3, 4].map(() => turns.enter('ann'));
    expect(() => turns.enter('ann')).toThrow(A2AError);
    turns.enter('ben')();
    leave[0]!();
    leave.push(turns.enter('ann'));
    expect(() => turns.enter('ann')).toThrow(/4 uploads of yours/);
  });
});
