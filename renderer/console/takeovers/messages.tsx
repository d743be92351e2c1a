/** Saved messages: each is shown on all screens with one tap. */
import { useSignal } from '@preact/signals';
import { mostTakeoverTitle } from '../../../service/contract/console/takeover-levels.ts';
import { cutBetween } from '../../../service/contract/readable.ts';
import { shownName } from '../../../service/domain/slides.ts';
import type { MessageDraft } from '../model/document.ts';
import { setList } from '../model/edit.ts';
import { slideOfTakeover } from '../model/shown.ts';
import { useConsole } from '../ui/context.tsx';
import { Button } from '../ui/controls.tsx';
import { Miniature } from '../ui/miniature.tsx';

const MINUTE_MS = 60_000;

const Message = ({ message }: { message: MessageDraft }) => {
  const { access, client, site, announcer, texts, format, draft: openDraft } = useConsole();
  const words = texts.takeover;
  const isSending = useSignal(false);
  const { id, body, level, media_url, minutes } = message;
  const title = shownName(message.title ?? null);
  const start = async (): Promise<void> => {
    if (isSending.value) return;
    isSending.value = true;
    const until = minutes === null ? null : new Date(site.now() + minutes * MINUTE_MS).toISOString();
    await client
      .json(`/console/api/takeovers/message-${id}`, {
        method: 'PUT',
        body: {
          targets: ['all'],
          level,
          title: message.title == null ? null : cutBetween(message.title, mostTakeoverTitle),
          body,
          media_url,
          until,
        },
      })
      .then(() => announcer.say(words.sent))
      .catch(announcer.report);
    await site.refresh();
    isSending.value = false;
  };
  const name = title ?? body ?? words.pictureAlone;
  const draft = openDraft();
  const edited = draft.content.value;
  const isKept = edited?.messages?.some((each) => each.id === id) !== false;
  const remove = (): void => {
    if (edited === null) return;
    draft.edit(
      setList(
        edited,
        'messages',
        (edited.messages ?? []).filter((each) => each.id !== id),
      ),
    );
    announcer.say(words.removedMessage);
  };
  return (
    <li class={`takeover ${level}`}>
      <div class="takeover-picture">
        <Miniature
          slide={slideOfTakeover({ level, title, body: body ?? null, media_url: media_url ?? null })}
          id={`message-${id}`}
        />
      </div>
      <div class="takeover-about">
        <p class={`level ${level}`}>{texts.level[level]}</p>
        <h3>{name}</h3>
        {title != null && body != null && <p class="soft">{body}</p>}
        <p class="soft">{minutes === null ? words.untilEnded : format.duration(minutes * MINUTE_MS)}</p>
        {!isKept && <p class="soft">{words.removedMessage}</p>}
      </div>
      <div class="buttons end">
        {isKept && (
          <Button aria-label={words.removeMessage({ name })} onClick={remove}>
            {words.remove}
          </Button>
        )}
        {access.covers(['all'], []) && (
          <Button aria-label={words.showMessage({ name })} aria-disabled={isSending.value} onClick={() => void start()}>
            {words.showEverywhere}
          </Button>
        )}
      </div>
    </li>
  );
};

/** Those that are published. */
export const Messages = () => {
  const { documents, texts } = useConsole();
  const messages = documents.current.value?.content.messages ?? [];
  if (messages.length === 0) return null;
  return (
    <section class="open-takeovers">
      <h2>{texts.takeover.messages}</h2>
      <ul>
        {messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ul>
    </section>
  );
};
