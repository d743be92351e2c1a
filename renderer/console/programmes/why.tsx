/** What plays at a moment, and why, as a sentence. */
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { nameOf, playlistName } from './edits.ts';
import type { Explained, Subject } from './evaluation.ts';

interface WhyProps {
  document: ContentDocument;
  subject: Subject;
  /** Null: a programme has errors. */
  explained: Explained | null;
  /** ms since the epoch */
  moment: number;
  /** The moment that was chosen, as a field has it; empty: none. */
  chosen: string;
  onChoose(value: string): void;
}

export const Why = ({ document, subject, explained, moment, chosen, onChoose }: WhyProps) => {
  const { texts, format } = useConsole();
  const words = texts.programmes.why;
  const reasonOf = (reason: Explained['reason'], other: string): string => {
    if (reason === 'priority' || reason === 'target' || reason === 'order') return words.reason[reason]({ other });
    return words.reason[reason];
  };
  const sentence = (): string => {
    if (explained === null) return texts.editor.hasErrors;
    const { programme, playlist_id, reason, second } = explained;
    const at = format.moment(moment);
    const because = reasonOf(reason, second === null ? '' : nameOf(second, document));
    if (programme === null && subject.differs) return words.own({ at });
    if (playlist_id === null) return words.nothing({ at });
    const playlist = playlistName(playlist_id, document);
    return programme?.name
      ? words.named({ at, playlist, because, programme: programme.name })
      : words.plays({ at, playlist, because });
  };
  const next = explained?.next ?? null;
  const isOwnNext = next !== null && next.playlist_id === null && subject.differs;
  return (
    <div class="row programme-why">
      <p>
        <strong title={sentence()}>{sentence()}</strong>
        {next !== null && (
          <span>
            {words.next({
              at: format.dayAndTime(next.at),
              playlist: isOwnNext
                ? words.ownNext
                : next.playlist_id === null
                  ? words.nothingNext
                  : playlistName(next.playlist_id, document),
            })}
          </span>
        )}
      </p>
      <label class="row plan-time">
        <span>{texts.plan.at}</span>
        <input type="datetime-local" value={chosen} onInput={(event) => onChoose(event.currentTarget.value)} />
      </label>
    </div>
  );
};
