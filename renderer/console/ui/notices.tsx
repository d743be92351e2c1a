import type { Announcer } from '../stores/announcer.ts';

export const Notices = ({ announcer, closeLabel }: { announcer: Announcer; closeLabel: string }) => (
  <div class="notices" role="status" aria-live="polite">
    {announcer.notices.value.map(({ id, text, isFailure }) => (
      <p key={id} class={isFailure ? 'toast failure' : 'toast'}>
        <span>{text}</span>
        <button type="button" class="icon-button" aria-label={closeLabel} onClick={() => announcer.dismiss(id)}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M5 5l10 10M15 5L5 15" />
          </svg>
        </button>
      </p>
    ))}
  </div>
);
