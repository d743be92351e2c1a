/** How a screen without a display gets one: the address in the local network, as text to copy and as a QR code. */
import { Address } from '../ui/address.tsx';
import { useConsole } from '../ui/context.tsx';

export const NoDisplay = ({ slug }: { slug: string }) => {
  const { site, texts } = useConsole();
  const words = texts.screenPage;
  // A box that is opened as localhost is known to other machines by the address that it gives itself.
  const base = site.overview.value?.boxes[0]?.url ?? location.origin;
  const address = new URL(`/screen/${slug}`, base).href;
  return (
    <div class="no-display">
      <p class="state quiet">{texts.noDisplay}</p>
      <p>{texts.wall.noDisplayTask}</p>
      <Address url={address} label={words.address} code={words.code} />
    </div>
  );
};
