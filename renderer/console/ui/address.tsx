/** An address for another machine: as a code for a phone, and as a line that can be copied. */
import { useRef } from 'preact/hooks';
import { qrPicture } from '../../player/slides/qr-code.ts';
import { useConsole } from './context.tsx';
import { Button } from './controls.tsx';

export const Address = ({ url, label, code }: { url: string; label: string; code: string }) => {
  const { texts, announcer } = useConsole();
  const words = texts.screenPage;
  const shown = useRef<HTMLInputElement>(null);
  const copy = (): void => {
    shown.current?.select();
    // Over http in a local network there is no other way.
    if (document.execCommand('copy')) announcer.say(words.copied);
    else announcer.complain(words.notCopied);
  };
  return (
    <>
      <img class="address-code" src={qrPicture(url)} alt={code} />
      <div class="address-line">
        <input ref={shown} class="address" aria-label={label} readOnly value={url} />
        <Button onClick={copy}>{words.copy}</Button>
      </div>
    </>
  );
};
