/** What concerns the whole console. */
import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useConsole } from './ui/context.tsx';
import { Icon } from './ui/icon.tsx';

const Banner = ({ tone, children }: { tone: 'warning' | 'bad' | 'info'; children: ComponentChildren }) => (
  <div class={`banner ${tone}`}>
    <Icon name={tone === 'info' ? 'info' : 'warning'} />
    <div>{children}</div>
  </div>
);

export const Banners = () => {
  const { session, clock, site, texts, format } = useConsole();
  const overview = site.overview.value;
  const difference = clock.difference.value;
  const isAway = useComputed(() => site.error.value !== null && !session.isAsking.value).value;
  return (
    <div class="banners">
      {!session.isSecured.value && (
        <Banner tone="warning">
          <details>
            <summary>{texts.noSecretTitle}</summary>
            <p>{texts.noSecretTask}</p>
          </details>
        </Banner>
      )}
      <div role="status">
        {isAway && (
          <Banner tone="bad">
            {site.lastSeen.value === null ? texts.away : texts.awaySince({ time: format.time(site.lastSeen.value) })}
          </Banner>
        )}
        {!isAway && overview?.degraded && <Banner tone="warning">{texts.degraded}</Banner>}
        {overview?.content.status === 'invalid' && <Banner tone="bad">{texts.contentInvalid}</Banner>}
        {difference !== 0 && (
          <Banner tone="warning">
            {(difference > 0 ? texts.clockBehind : texts.clockAhead)({ difference: format.duration(difference) })}
          </Banner>
        )}
      </div>
    </div>
  );
};
