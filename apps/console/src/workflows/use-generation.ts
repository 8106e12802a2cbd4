import { useEffect, useRef, useState } from 'react';
import {
  type GeneratedWorkflow,
  type GenerationRequest,
  type GenerationStep,
  generateWorkflow,
} from './generate-api.js';

/** Most characters of an arriving answer that are shown. */
const SHOWN = 4_000;

/** State of a generation by a model. */
export interface GenerationState {
  pending: boolean;
  /** Current step as a sentence. */
  step: string;
  /** End of the answer so far. */
  text: string;
  error: unknown;
  /**
   * Writes a workflow.
   * @returns `undefined` if it failed or was stopped
   */
  start: (request: GenerationRequest) => Promise<GeneratedWorkflow | undefined>;
  stop: () => void;
}

/** Writes workflows with a model; a running generation stops when the component unmounts. */
export function useGeneration(): GenerationState {
  const [pending, setPending] = useState(false);
  const [step, setStep] = useState('');
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const showStep = (it: GenerationStep): void => {
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
      return await generateWorkflow(request, stop.signal, showStep);
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
