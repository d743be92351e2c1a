/** Whether an element is in sight, or nearly so. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const listeners = new WeakMap<Element, (isVisible: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** One observer for all elements: a thousand of them cost more than they tell. */
const observerOf = (): IntersectionObserver => {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting);
    },
    { rootMargin: '400px' },
  );
  return observer;
};

export const useVisible = (element: RefObject<Element | null>): boolean => {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    listeners.set(target, setVisible);
    observerOf().observe(target);
    return () => observerOf().unobserve(target);
  }, [element]);
  return isVisible;
};
