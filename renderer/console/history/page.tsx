/** Who did what and when, and what was shown. */
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { Changes } from './changes.tsx';

const tabs = ['changes', 'shown', 'figures'] as const;

const shownPage = async () => (await import('./shown.tsx')).Shown;
const playsPage = async () => (await import('../plays/page.tsx')).PlaysPage;

export const HistoryPage = ({ rest: [first] }: { rest: readonly string[] }) => {
  const { access, texts } = useConsole();
  const words = texts.history;
  const offered = tabs.filter((each) => each !== 'changes' || access.may('GET /console/api/audit'));
  const tab = offered.find((each) => each === first) ?? offered[0] ?? 'shown';
  return (
    <>
      <div class="page-head">
        <h1>{tab === 'figures' ? texts.plays.title : words.title}</h1>
        <p class="soft">{tab === 'figures' ? texts.plays.about : words.about[tab]}</p>
      </div>
      <nav class="tabs" aria-label={words.title}>
        {offered.map((each) => (
          <a key={each} href={hrefOf('history', each)} aria-current={each === tab ? 'page' : undefined}>
            {words.tab[each]}
          </a>
        ))}
      </nav>
      {tab === 'changes' ? <Changes /> : <Lazy key={tab} load={tab === 'shown' ? shownPage : playsPage} with={{}} />}
    </>
  );
};
