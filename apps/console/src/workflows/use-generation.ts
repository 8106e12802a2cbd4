import { useEffect, useRef, useState } from 'react';
import {
  type GeneratedWorkflow,
  type GenerationRequest,
  type GenerationStep,
  generateWorkflow,
} from './generate-api.js';

/** Maximum characters of an arriving answer that are shown. Of a longer answer, only the end is shown. */
const SHOWN = 4_000;

/** State of a generation by a model. */
export interface GenerationState {
  pending: boolean;
  /** Current step of the generation, as a sentence. */
  step: string;
  /** Last characters of the model's answer so far. */
  text: string;
  error: unknown;
  /**
   * Starts a generation and resolves with the workflow.
   * @returns `undefined` if the generation failed or was stopped
   */
  start: (request: GenerationRequest) => Promise<GeneratedWorkflow | undefined>;
  stop: () => void;
}

/** Generates workflows with a model. A running generation stops when the component unmounts. */
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
