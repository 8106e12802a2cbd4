import { type CanonicalState, initialState, type Risk } from './canonical-state.js';
import { convergenceOf } from './convergence.js';

const STEP = { title: 'Begin', description: 'with ten words' };

function after(iteration: number, confidence: number, fields: Partial<CanonicalState> = {}): CanonicalState {
  const state = initialState('idea', []);
  return { ...state, execution_plan: [STEP], metrics: { confidence }, meta: { iteration, agents: [] }, ...fields };
}

const critical = (text: string): Risk => ({ text, severity: 'critical', resolved: false });

describe('verdict', () => {
  it.each([
    [
      'J14 converged',
      after(2, 0.8),
      after(3, 0.81),
      10,
      true,
      'Converged in iteration 3: no new critical risk, a plan of 1 step, and confidence moved by 0.01 to 0.81.',
    ],
    [
      'J14 a known critical risk does not keep it going',
      after(1, 0.8, { risks: [critical('Fire')] }),
      after(2, 0.8, { risks: [critical('fire ')] }),
      10,
      true,
      'Converged in iteration 2: no new critical risk, a plan of 1 step, and confidence moved by 0.00 to 0.80.',
    ],
    [
      'J14 a new critical risk does',
      after(1, 0.8),
      after(2, 0.8, { risks: [critical('Fire')] }),
      10,
      false,
      'Goes on after iteration 2: there is 1 new critical risk.',
    ],
    [
      'J14 without a plan it goes on',
      after(1, 0.8),
      after(2, 0.8, { execution_plan: [] }),
      10,
      false,
      'Goes on after iteration 2: the plan has no complete step.',
    ],
    [
      'J14 0.02 is not less than 0.02',
      after(1, 0.8),
      after(2, 0.82),
      10,
      false,
      'Goes on after iteration 2: confidence moved by 0.02 to 0.82.',
    ],
    [
      'J14 a low confidence is no agreement',
      after(1, 0.4),
      after(2, 0.4),
      10,
      false,
      'Goes on after iteration 2: a confidence of 0.40 is below 0.50.',
    ],
    [
      'J14 the first iteration has nothing to compare with',
      after(0, 0, { execution_plan: [] }),
      after(1, 0.9),
      10,
      false,
      'Goes on after iteration 1: there was no confidence to compare with.',
    ],
    [
      'J14 the most iterations end it',
      after(1, 0.1),
      after(2, 0.9, { risks: [critical('a'), critical('b')] }),
      2,
      true,
      'Stopped after 2 iterations, the most allowed: there are 2 new critical risks, and confidence moved by 0.80 to 0.90.',
    ],
  ])('%s', (_, before, now, most, converged, sentence) => {
    expect(convergenceOf(before, now, most)).toEqual({ converged, sentence });
  });
});
