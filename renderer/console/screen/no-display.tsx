/** How a screen without a display gets one: the address in the local network, as text to copy and as a QR code. */
import { Address } from '../ui/address.tsx';
import { useConsole } from '../ui/context.tsx';
import { screenAddress } from '../ui/screen-address.ts';

export const NoDisplay = ({ slug }: { slug: string }) => {
  const { site, texts } = useConsole();
  const words = texts.screenPage;
  const address = screenAddress(slug, site.overview.value);
  return (
    <div class="no-display">
      <p class="state quiet">{texts.noDisplay}</p>
      <p>{texts.wall.noDisplayTask}</p>
      <Address url={address} label={words.address} code={words.code} />
    </div>
  );
};
