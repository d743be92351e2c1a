/** Who did what and when, and what was shown. */
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Tabs } from '../ui/controls.tsx';
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
      <Tabs
        label={words.title}
        tabs={offered}
        current={tab}
        hrefOf={(each) => hrefOf('history', each)}
        nameOf={(each) => words.tab[each]}
      />
      {tab === 'changes' ? <Changes /> : <Lazy key={tab} load={tab === 'shown' ? shownPage : playsPage} with={{}} />}
    </>
  );
};
