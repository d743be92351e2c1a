/** How a screen without a display gets one: the address in the local network, as text to copy and as a QR code. */
import { useRef } from 'preact/hooks';
import { qrPicture } from '../../player/slides/qr-code.ts';
import { useConsole } from '../ui/context.tsx';

export const NoDisplay = ({ slug }: { slug: string }) => {
  const { site, texts, announcer } = useConsole();
  const words = texts.screenPage;
  const shown = useRef<HTMLInputElement>(null);
  // A box that is opened as localhost is known to other machines by the address that it gives itself.
  const base = site.overview.value?.boxes[0]?.url ?? location.origin;
  const address = new URL(`/screen/${slug}`, base).href;
  const copy = (): void => {
    shown.current?.select();
    // Over http in a local network there is no other way.
    const isCopied = document.execCommand('copy');
    if (isCopied) announcer.say(words.copied);
    else announcer.complain(words.notCopied);
  };
  return (
    <div class="no-display">
      <p class="state quiet">{texts.noDisplay}</p>
      <p>{texts.wall.noDisplayTask}</p>
      <img class="address-code" src={qrPicture(address)} alt={words.code} />
      <div class="address-line">
        <input ref={shown} class="address" aria-label={words.address} readOnly value={address} />
        <button type="button" class="button" onClick={copy}>
          {words.copy}
        </button>
      </div>
    </div>
  );
};
