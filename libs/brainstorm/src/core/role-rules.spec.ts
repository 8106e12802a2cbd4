import { type CanonicalState, initialState, readState, stateJson } from './canonical-state.js';
import { convergenceOf } from './convergence.js';
import { mergePass } from './merge-pass.js';
import { hasWords } from './normalised.js';
import { type BrainstormRole, roleAt } from './role.js';
import { workByRules } from './role-rules.js';

/** Runs a whole brainstorm of agents that work by fixed rules. */
function brainstorm(count: number): { state: CanonicalState; sentence: string } {
  const roles = Array.from({ length: count }, (_, position) => roleAt(position));
  const history = [initialState('A shared garden calendar.', [])];
  for (let iteration = 1; ; iteration += 1) {
    const before = history.at(-1) as CanonicalState;
    let last: Pick<CanonicalState, keyof ReturnType<typeof workByRules>> = before;
    const outputs = roles.map((role) => {
      last = readState({ ...stateJson(before), ...workByRules(role, last) } as never);
      return { source: { agent: role, role, iteration }, state: last };
    });
    const { state } = mergePass({ iteration, history, provenance: {}, outputs });
    history.push(state);
    const { converged, sentence } = convergenceOf(before, state, 10);
    if (converged) return { state, sentence };
  }
}

describe('workByRules', () => {
  const begun = initialState('A shared garden calendar.', []);

  it('J9 gives the same answer for the same state', () => {
    for (const role of ['build', 'review', 'refine', 'devils_advocate'] satisfies BrainstormRole[]) {
      expect(workByRules(role, begun)).toEqual(workByRules(role, structuredClone(begun)));
    }
  });

  it('build drafts a plan whose steps say enough to be kept', () => {
    const { execution_plan, architecture } = workByRules('build', begun);
    expect(architecture).toContain('A shared garden calendar');
    expect(execution_plan.map(({ description }) => hasWords(description, 10))).toEqual([true, true, true, true]);
  });

  it('review finds risks, refine resolves each by a step, the advocate challenges an assumption', () => {
    const reviewed = workByRules('review', workByRules('build', begun));
    expect(reviewed.risks.map(({ severity }) => severity)).toEqual(['high', 'high', 'medium']);
    const refined = workByRules('refine', reviewed);
    expect(refined.risks.every(({ resolved }) => resolved)).toBe(true);
    expect(refined.execution_plan.length).toBe(reviewed.execution_plan.length + 3);
    expect(workByRules('devils_advocate', refined).open_questions).toHaveLength(1);
    expect(workByRules('review', begun).risks).toEqual([
      { text: 'There is no plan', severity: 'critical', resolved: false },
    ]);
  });

  it.each([2, 3, 4, 6])('%i such agents converge by agreement before the tenth iteration', (count) => {
    const { state, sentence } = brainstorm(count);
    expect(sentence).toMatch(/^Converged in iteration [2-6]:/);
    expect(state.execution_plan.length).toBeGreaterThanOrEqual(4);
  });
});
