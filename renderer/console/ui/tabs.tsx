/** The parts of a page, as links; on a phone they scroll, and the current one is in sight. */
import { useLayoutEffect, useRef } from 'preact/hooks';

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly T[];
  current: T;
  hrefOf(tab: T): string;
  nameOf(tab: T): string;
}

export const Tabs = <T extends string>({ label, tabs, current, hrefOf, nameOf }: TabsProps<T>) => {
  const bar = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const link = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current === null || link == null) return;
    // Not scrollIntoView, which would move the page, too.
    bar.current.scrollLeft =
      link.offsetLeft - bar.current.offsetLeft - (bar.current.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={bar}>
      {tabs.map((tab) => (
        <a key={tab} href={hrefOf(tab)} aria-current={tab === current ? 'page' : undefined}>
          {nameOf(tab)}
        </a>
      ))}
    </nav>
  );
};
