/** The designs to choose from, by their pictures. */
import { useEffect } from 'preact/hooks';
import type { Design } from '../../../service/contract/console/designs.ts';
import { designPrefix } from '../../../service/contract/design-prefix.ts';
import { useConsole } from '../ui/context.tsx';
import { wordOf } from '../ui/words.ts';

const pictures = import.meta.glob<string>('../../../resources/designs/*/preview.webp', {
  eager: true,
  query: '?url',
  import: 'default',
});

const pictureOf = (id: string): string | undefined =>
  pictures[`../../../resources/designs/${id.replace(designPrefix, '')}/preview.webp`];

export const DesignChoice = ({ onChoose }: { onChoose(design: Design): void }) => {
  const { designs, texts } = useConsole();
  useEffect(() => void designs.load(), []);
  if (designs.list.value.length === 0) return null;
  return (
    <>
      <h3>{texts.designs.title}</h3>
      <ul class="designs">
        {designs.list.value.map((design) => (
          <li key={design.id}>
            <button type="button" onClick={() => onChoose(design)}>
              <img src={pictureOf(design.id)} alt="" width={320} height={180} loading="lazy" decoding="async" />
              <strong>{wordOf(texts.designs.word, design.name)}</strong>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};
