/** A file of somebody's, and what displays show of it. */
export interface Sample {
  name: string;
  kind: 'image' | 'video' | 'pdf';
  make(): Buffer;
  /** How its rendition is made; null: it has none; `failed`: it cannot be shown. */
  rendition: 'remux' | 'h264' | 'picture' | 'pdf' | 'failed' | null;
  /** How long it is on. */
  seconds: number;
  /** Whether it is shorter than that, or has lost pictures, because it is damaged. */
  isCut?: boolean;
  /** Whether nothing is white in its upper left corner. */
  isUnmarked?: boolean;
  /** Whether displays cannot show it, although nothing is wrong with the file. */
  isSkipped?: boolean;
}
