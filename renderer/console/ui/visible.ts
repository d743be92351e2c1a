/** Whether an element is in the viewport, or close to it. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Elements that become visible per frame, so that fast scrolling through a thousand of them does not stutter. */
const PER_FRAME = 4;

const listeners = new WeakMap<Element, (isVisible: boolean) => void>();
/** Visible elements whose listener was not called yet. */
const waiting = new Set<Element>();
/** The pending animation frame that calls the next listeners; 0: none. */
let frame = 0;
let observer: IntersectionObserver | undefined;

const notifySome = (): void => {
  for (const target of [...waiting].slice(0, PER_FRAME)) {
    waiting.delete(target);
    listeners.get(target)?.(true);
  }
  frame = waiting.size > 0 ? requestAnimationFrame(notifySome) : 0;
};

const onChange = (entries: readonly IntersectionObserverEntry[]): void => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) waiting.add(target);
    else if (!waiting.delete(target)) listeners.get(target)?.(false);
  }
  if (frame === 0 && waiting.size > 0) notifySome();
};

/** One observer for all elements: an observer for each would be slow. */
const observerOf = (): IntersectionObserver => {
  observer ??= new IntersectionObserver(onChange, { rootMargin: '400px' });
  return observer;
};

export const useVisible = (element: RefObject<Element | null>): boolean => {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    listeners.set(target, setVisible);
    observerOf().observe(target);
    return () => {
      observerOf().unobserve(target);
      waiting.delete(target);
    };
  }, [element]);
  return isVisible;
};
