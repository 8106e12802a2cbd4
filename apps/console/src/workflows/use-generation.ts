import { useEffect, useRef, useState } from 'react';
import {
  type GeneratedWorkflow,
  type GenerationRequest,
  type GenerationStep,
  generateWorkflow,
} from './generate-api.js';

/** Characters of an answer that are shown while it comes. */
const SHOWN = 4_000;

/** A workflow that a model writes at the moment. */
export interface Generation {
  pending: boolean;
  /** Sentence about what happens now. */
  step: string;
  /** End of the answer so far. */
  text: string;
  error: unknown;
  /** Writes a workflow. @returns `undefined` where that failed or was stopped */
  start: (request: GenerationRequest) => Promise<GeneratedWorkflow | undefined>;
  stop: () => void;
}

/** Writes workflows with a model; one that is under way ends with the component. */
export function useGeneration(): Generation {
  const [pending, setPending] = useState(false);
  const [step, setStep] = useState('');
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const show = (it: GenerationStep): void => {
    if (it.type === 'generate.progress') setText((last) => `${last}${it.text}`.slice(-SHOWN));
    else setStep(sentenceOfStep(it));
    if (it.type === 'generate.repair') setText('');
  };
  const start = async (request: GenerationRequest): Promise<GeneratedWorkflow | undefined> => {
    const stop = new AbortController();
    running.current = stop;
    setPending(true);
    setError(undefined);
    setText('');
    setStep('Asking a model …');
    try {
      return await generateWorkflow(request, stop.signal, show);
    } catch (failure) {
      if (!stop.signal.aborted) setError(failure);
      return undefined;
    } finally {
      setPending(false);
    }
  };
  return { pending, step, text, error, start, stop: () => running.current?.abort() };
}

function sentenceOfStep(step: Exclude<GenerationStep, { type: 'generate.progress' }>): string {
  switch (step.type) {
    case 'generate.started':
      return `${step.model} writes …`;
    case 'generate.draft':
      return 'The service checks the workflow …';
    case 'generate.repair':
      return `The workflow has errors: attempt ${step.attempt} …`;
  }
}
