/** The last versions of the content, what each of them changed, and a way back. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reasonOf } from '../api/errors.ts';
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Dialog } from '../ui/controls.tsx';
import { ChangeList } from './change-list.tsx';

interface VersionSummary {
  sha256: string;
  changedAt: string;
  nodeId: string;
  operator: string | null;
  bytes: number;
}

interface Opened {
  version: VersionSummary;
  content: ContentDocument;
  /** The previous version; null: there is none. */
  before: ContentDocument | null;
}

export const Versions = () => {
  const { client, draft: openDraft, site, texts, format, clock, announcer, router } = useConsole();
  const draft = openDraft();
  const words = texts.versions;
  const versions = useSignal<readonly VersionSummary[] | null>(null);
  const error = useSignal<unknown>(null);
  const opened = useSignal<Opened | null>(null);
  const current = draft.base.value?.sha256;

  useEffect(() => {
    client
      .json<{ versions: VersionSummary[] }>('/console/api/content/versions')
      .then((answer) => {
        versions.value = answer.versions;
        error.value = null;
      })
      .catch((reason: unknown) => {
        error.value = reason;
      });
  }, [current]);

  const fetchVersion = (sha256: string) =>
    client.json<ContentDocument>(`/console/api/content/versions/${sha256}`, { timeout: 30_000 });

  const open = async (index: number): Promise<void> => {
    const version = versions.value?.[index];
    if (version === undefined) return;
    const before = versions.value?.[index + 1];
    try {
      const [content, older] = await Promise.all([
        fetchVersion(version.sha256),
        before === undefined ? null : fetchVersion(before.sha256),
      ]);
      opened.value = { version, content, before: older };
    } catch (reason) {
      announcer.report(reason);
    }
  };

  const bringBack = ({ content }: Opened): void => {
    draft.edit(content);
    draft.isForeign.value = true;
    opened.value = null;
    announcer.say(words.back);
    router.go('content');
  };

  const boxOf = (nodeId: string): string =>
    site.overview.value?.boxes.find((box) => box.nodeId === nodeId)?.name ?? nodeId;

  if (error.value !== null) return <p class="notice bad">{reasonOf(error.value, texts)}</p>;
  if (versions.value === null) return <p class="soft">{texts.loading}</p>;
  if (versions.value.length === 0) return <p class="soft">{words.none}</p>;
  const boxes = site.overview.value?.boxes ?? [];
  return (
    <>
      {boxes.length > 1 && <p class="soft">{words.ofBox({ name: boxes[0]?.name ?? '' })}</p>}
      <ul class="versions">
        {versions.value.map((version, index) => (
          <li key={`${version.sha256} ${version.changedAt}`}>
            <button type="button" onClick={() => void open(index)}>
              <strong>{format.when(version.changedAt, clock.now())}</strong>
              <span>{version.operator ?? words.unknown}</span>
              <span class="soft">{words.on({ box: boxOf(version.nodeId) })}</span>
              <span class="soft">{format.bytes(version.bytes)}</span>
              {version.sha256 === current && <span class="badge">{words.current}</span>}
            </button>
          </li>
        ))}
      </ul>
      {opened.value !== null && (
        <Dialog
          title={words.of({ time: format.when(opened.value.version.changedAt, clock.now()) })}
          onClose={() => (opened.value = null)}
          isWide
        >
          <div class="stack">
            <section>
              <h3>{words.changed}</h3>
              {opened.value.before === null ? (
                <p class="soft">{words.first}</p>
              ) : (
                <ChangeList before={opened.value.before} after={opened.value.content} />
              )}
            </section>
            {opened.value.version.sha256 !== current && draft.content.value !== null && (
              <>
                <section>
                  <h3>{words.wouldChange}</h3>
                  <ChangeList before={draft.content.value} after={opened.value.content} />
                </section>
                <div class="buttons end">
                  <Button class="primary" onClick={() => opened.value !== null && bringBack(opened.value)}>
                    {words.bringBack}
                  </Button>
                </div>
              </>
            )}
          </div>
        </Dialog>
      )}
    </>
  );
};
