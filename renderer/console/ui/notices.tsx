import type { Announcer } from '../stores/announcer.ts';
import { Icon } from './icon.tsx';

export const Notices = ({ announcer, closeLabel }: { announcer: Announcer; closeLabel: string }) => (
  <div class="notices" role="status" aria-live="polite">
    {announcer.notices.value.map(({ id, text, kind }) =>
      kind === 'spoken' ? (
        <p key={id} class="unseen">
          {text}
        </p>
      ) : (
        <p key={id} class={kind === 'failure' ? 'toast failure' : 'toast'}>
          <span>{text}</span>
          <button type="button" class="icon-button" aria-label={closeLabel} onClick={() => announcer.dismiss(id)}>
            <Icon name="close" />
          </button>
        </p>
      ),
    )}
  </div>
);
